package checkpoint

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A File is an open checkpoint.
type File struct {
	path     string
	image    *image
	shards   []*File // of a model in several files, in place of image
	format   string
	length   int64
	order    []*Tensor // in the file's order
	byName   map[string]*Tensor
	members  []member // whose checksums can be compared
	metadata map[string]string
	vocab    []byte

	fingerprintOnce sync.Once
	fingerprint     string
}

// Open opens a file of one of the formats, told apart by their first bytes, or the
// files that an .index.json names. The error is one line: file, tensor, what is wrong,
// what to do.
func Open(path string) (*File, error) {
	if isIndex(path) {
		return openIndex(path)
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if err := f.settle(); err != nil {
		return nil, errors.Join(inFile(path, err), f.Close())
	}
	return f, nil
}

// openFile opens one file; the tensors have the names that are in it.
func openFile(path string) (*File, error) {
	m, err := openImage(path, mapFile)
	if err != nil {
		return nil, err
	}
	var f *File
	err = m.guard(func() (err error) {
		f, err = read(m)
		return err
	})
	if err != nil {
		return nil, errors.Join(inFile(path, err), m.close())
	}
	f.path = path
	return f, nil
}

// FromBytes is Open for the bytes of a file; name stands for the path. The caller must
// not change the bytes until the File is closed.
func FromBytes(name string, data []byte) (*File, error) {
	f, err := read(memoryImage(data))
	if err == nil {
		err = f.settle()
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	f.path = name
	return f, nil
}

// read tells the format from the first bytes and reads it.
func read(m *image) (*File, error) {
	head, err := m.slice(0, min(m.length, 512), nil)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.recognises(head) })
	if i < 0 {
		return nil, refuseForeign(head)
	}
	return formats[i].open(m)
}

// settle gives tensors their released names and refuses what is no model of ours.
func (f *File) settle() error {
	if strings.HasPrefix(f.format, formatSafetensors) {
		if err := f.fromWebRWKV(); err != nil {
			return err
		}
	}
	if err := f.fromHuggingFace(); err != nil {
		return err
	}
	if err := f.findVocab(); err != nil {
		return err
	}
	return refuseForeignNames(f)
}

func newFile(m *image, format string) *File {
	return &File{image: m, length: m.length, format: format, byName: map[string]*Tensor{}}
}

// add appends a tensor, whose place in the file has been checked.
func (f *File) add(t *Tensor) error {
	if t.Name == "" || len(t.Name) > maxName || !printable(t.Name) {
		return refuseTensor(t.Name, useRelease, "this is no name for a tensor")
	}
	if _, twice := f.byName[t.Name]; twice {
		return refuseTensor(t.Name, useRelease, "it occurs twice")
	}
	if len(f.order) == maxTensors {
		return refuse(useRelease, "more than %d tensors", maxTensors)
	}
	f.order = append(f.order, t)
	f.byName[t.Name] = t
	return nil
}

// printable says whether a name consists of visible ASCII characters.
func printable(name string) bool {
	return !slices.ContainsFunc([]byte(name), func(b byte) bool { return b <= ' ' || b > '~' })
}

// Path is the path that the file was opened by.
func (f *File) Path() string { return f.path }

// Format is "pth", "safetensors", "gguf" or "rwkv.cpp", and whose names it had.
func (f *File) Format() string { return f.format }

// Size is the file's size in bytes.
func (f *File) Size() int64 { return f.length }

// Names are the canonical tensor names in the file's order.
func (f *File) Names() []string {
	names := make([]string, len(f.order))
	for i, t := range f.order {
		names[i] = t.Name
	}
	return names
}

// PackedTypes names the packed types of the file's tensors, the most frequent first.
func (f *File) PackedTypes() []string {
	count := map[DType]int{}
	for _, t := range f.order {
		if t.DType.Packed() {
			count[t.DType]++
		}
	}
	types := slices.SortedFunc(maps.Keys(count), func(a, b DType) int { return cmp.Or(count[b]-count[a], int(a)-int(b)) })
	names := make([]string, len(types))
	for i, d := range types {
		names[i] = d.String()
	}
	return names
}

// Tensor finds a tensor by canonical name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Dims is the shape of a tensor; it makes *File an rwkv.Source.
func (f *File) Dims(name string) ([]int, bool) {
	t, ok := f.byName[name]
	if !ok {
		return nil, false
	}
	return t.Shape, true
}

// Vocab is the vocabulary file (World text format) inside the model's file, or nil.
func (f *File) Vocab() []byte { return f.vocab }

// Metadata is what a safetensors or GGUF file says about itself, by key; it may be nil.
func (f *File) Metadata() map[string]string { return f.metadata }

// parts are the files of the model.
func (f *File) parts() []*File {
	if f.image != nil {
		return []*File{f}
	}
	return f.shards
}

// Close unmaps the file. Tensors must not be read afterwards.
func (f *File) Close() error {
	var err error
	for _, part := range f.parts() {
		err = errors.Join(err, part.image.close())
	}
	return err
}

// looksLikeSafetensors says whether the file starts with the length of a JSON
// header and the header's first byte.
func looksLikeSafetensors(head []byte) bool {
	return len(head) >= 9 && head[8] == '{' && binary.LittleEndian.Uint64(head) < 1<<48
}
