package load

import (
	"context"
	"errors"
	"fmt"

	"rookery/infer"
	"rookery/infer/rwkv"
)

// Identify describes a model without loading its weights: name, shape, tokenizer and
// the fingerprint of the weights as the file has them.
func Identify(ctx context.Context, spec Spec) (*infer.Model, error) {
	f, err := openFile(spec.Model)
	if err != nil {
		return nil, err
	}
	m := &infer.Model{Name: ModelName(spec.Model), Path: spec.Model, Fingerprint: f.Fingerprint(), Metadata: spec.metadata(f)}
	if m.Shape, err = rwkv.Detect(f); err != nil {
		err = fmt.Errorf("%s: %w", f.Path(), err)
	} else {
		m.Tokenizer, err = chooseTokenizer(ctx, spec, f, m.Shape)
	}
	return m, errors.Join(err, f.Close())
}
