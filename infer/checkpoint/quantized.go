package checkpoint

import (
	"bytes"
	"slices"
	"strings"
)

// Names in our own files. A quantised tensor X is two entries: X, I8 of shape
// [rows, columns], and X.scales, F16 of shape [rows, columns/Q8Block].
const (
	metadataFormat  = "format"
	metadataVersion = "version"
	ownFormat       = "rookery"
	ownVersion      = "1"
	scalesSuffix    = ".scales"
	vocabName       = "tokenizer.vocab"
	maxVocab        = 16 << 20
)

// joinQuantized makes one Q8 tensor of each pair of values and scales, moves the
// vocabulary to File.Vocab, and refuses int8 values without scales.
func (f *File) joinQuantized() error {
	own := f.metadata[metadataFormat] == ownFormat
	if v := f.metadata[metadataVersion]; own && v != ownVersion {
		return refuse("use a newer Rookery", "written in version %s of its format, this build reads %s", quoted(v), ownVersion)
	}
	for _, t := range f.order {
		var err error
		switch {
		case t.DType == Q8 && !own:
			err = refuseTensor(t.Name, "use a file in fp16, bf16 or fp32", "its int8 values were not written by rookery models convert")
		case t.DType == Q8:
			err = f.joinScales(t)
		case own && t.Name == vocabName:
			err = f.takeVocab(t)
		}
		if err != nil {
			return err
		}
	}
	f.order = slices.DeleteFunc(f.order, func(t *Tensor) bool { return own && f.isPart(t) })
	for name, t := range f.byName {
		if own && f.isPart(t) {
			delete(f.byName, name)
		}
	}
	return nil
}

// isPart says whether an entry of our own files is not a tensor by itself.
func (f *File) isPart(t *Tensor) bool {
	values, paired := f.byName[strings.TrimSuffix(t.Name, scalesSuffix)]
	return t.Name == vocabName || paired && values != t && values.DType == Q8
}

// joinScales finds a Q8 tensor's scales.
func (f *File) joinScales(t *Tensor) error {
	scales, ok := f.byName[t.Name+scalesSuffix]
	if !ok {
		return refuseTensor(t.Name, downloadAgain, "its int8 values have no scales")
	}
	if len(t.Shape) == 0 || t.Shape[len(t.Shape)-1]%Q8Block != 0 || scales.DType != F16 || scales.Len() != t.Len()/Q8Block {
		return refuseTensor(t.Name, downloadAgain, "its scales %s %v do not fit int8 values %v", scales.DType, scales.Shape, t.Shape)
	}
	t.scales = scales.offset
	return nil
}

// takeVocab keeps the bytes of the vocabulary file.
func (f *File) takeVocab(t *Tensor) error {
	if t.DType != U8 || t.Len() > maxVocab {
		return refuseTensor(t.Name, downloadAgain, "a vocabulary is at most %d bytes of U8", maxVocab)
	}
	raw, err := f.image.slice(t.offset, int64(t.Len()), nil)
	f.vocab = bytes.Clone(raw)
	return err
}

// findVocab takes the vocabulary out of the tensors of any other format, where it is
// one of bytes.
func (f *File) findVocab() error {
	t, ok := f.byName[vocabName]
	if !ok || t.DType != U8 || len(t.Shape) != 1 || t.stride != nil || f.vocab != nil {
		return nil
	}
	if t.Len() > maxVocab {
		return refuseTensor(t.Name, downloadAgain, "a vocabulary is at most %d bytes of U8", maxVocab)
	}
	err := t.image.guard(func() error {
		raw, err := t.image.slice(t.offset, int64(t.Len()), nil)
		f.vocab = slices.Clone(raw)
		return err
	})
	f.order = slices.DeleteFunc(f.order, func(o *Tensor) bool { return o == t })
	delete(f.byName, vocabName)
	return err
}
