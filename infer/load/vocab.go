package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
	"rookery/infer/tokenizer"
	"rookery/untrusted"
)

// maxVocabBytes bounds a vocabulary file that is read; World's has 1.1 MB.
const maxVocabBytes = 64 << 20

// chooseTokenizer uses, in this order: Spec.Vocab, the vocabulary in the model's file,
// the known tokenizer for that number of rows, a vocabulary file beside the model.
func chooseTokenizer(ctx context.Context, spec Spec, f *checkpoint.File, shape rwkv.Shape) (*tokenizer.Tokenizer, error) {
	if spec.Vocab != "" {
		return readVocab(ctx, spec.Vocab, shape)
	}
	if data := f.Vocab(); data != nil {
		t, err := tokenizer.Parse(ModelName(spec.Model), data)
		if err != nil {
			return nil, fmt.Errorf("%s: the vocabulary that it carries: %w", f.Path(), err)
		}
		return t, fits(t, shape)
	}
	t, unknown := tokenizer.ForVocab(shape.Vocab)
	if unknown == nil {
		return t, nil
	}
	if spec.Model != "" {
		if t := vocabBeside(ctx, spec.Model, shape); t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", f.Path(), unknown)
}

// ReadVocab reads the bytes of a vocabulary file.
func ReadVocab(ctx context.Context, path string) ([]byte, error) {
	data, err := untrusted.Read(ctx, path, maxVocabBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	return data, nil
}

// readVocab reads a vocabulary file and checks that the model can use it.
func readVocab(ctx context.Context, path string, shape rwkv.Shape) (*tokenizer.Tokenizer, error) {
	data, err := ReadVocab(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.Parse(filepath.Base(path), data)
	if err != nil {
		return nil, err
	}
	return t, fits(t, shape)
}

// fits refuses a vocabulary of another model: one with tokens that this model has no
// rows for, or with tokens for less than a quarter of its rows.
func fits(t *tokenizer.Tokenizer, shape rwkv.Shape) error {
	switch {
	case t.Size() > shape.Vocab:
		return fmt.Errorf("vocabulary %s has tokens up to %d, and the model only %d rows for them; it belongs to another model", t.Name(), t.Size()-1, shape.Vocab)
	case t.Size() < shape.Vocab/4:
		return fmt.Errorf("vocabulary %s has %d tokens, and the model %d rows for them; it belongs to another model", t.Name(), t.Size(), shape.Vocab)
	}
	return nil
}

// isVocabName says whether a file may be a vocabulary: a text file, or the JSON file of
// a tokenizer.
func isVocabName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".txt" || ext == ".json" && strings.Contains(name, "tokenizer")
}

// vocabBeside looks for a vocabulary in the model's directory: a file
// that reads as one and fits, those with "vocab" in their names first.
func vocabBeside(ctx context.Context, model string, shape rwkv.Shape) *tokenizer.Tokenizer {
	entries, err := os.ReadDir(filepath.Dir(model))
	if err != nil {
		return nil // the caller says that there is no vocabulary
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && isVocabName(strings.ToLower(e.Name())) {
			names = append(names, e.Name())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return vocabRank(a) - vocabRank(b) })
	for _, name := range names {
		if t, err := readVocab(ctx, filepath.Join(filepath.Dir(model), name), shape); err == nil {
			return t
		}
	}
	return nil
}

func vocabRank(name string) int {
	if strings.Contains(strings.ToLower(name), "vocab") {
		return 0
	}
	return 1
}
