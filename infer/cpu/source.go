package cpu

import (
	"fmt"
	"slices"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// A tensor is a named array that can be read in pieces, so that loading never
// holds a whole one in fp32.
type tensor struct {
	name  string
	shape []int
	dtype checkpoint.DType
	// read converts values [off, off+len(dst)), in row-major order, to dst.
	read func(dst []float32, off int) error
	// blocks calls use with the raw int8 blocks of a tensor stored that way.
	blocks func(off, n int, use func(values []int8, scales []uint16)) (ok bool, err error)
}

// len is the number of values.
func (t tensor) len() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// A source finds tensors by canonical name.
type source func(name string) (tensor, error)

// fileSource reads from a checkpoint, whose errors name the tensor.
func fileSource(f *checkpoint.File) source {
	return func(name string) (tensor, error) {
		t, ok := f.Tensor(name)
		if !ok {
			return tensor{}, fmt.Errorf("tensor %s: missing", name)
		}
		return tensor{name: name, shape: t.Shape, dtype: t.DType, read: t.Float32, blocks: t.Blocks}, nil
	}
}

// withTables takes the tensors that are read while the model runs from another file.
func (s source) withTables(f *checkpoint.File, shape rwkv.Shape) source {
	other, tables := fileSource(f), map[string]bool{}
	for name, spec := range shape.Tensors() {
		tables[name] = spec.Kind == rwkv.Table
	}
	return func(name string) (tensor, error) {
		if tables[name] {
			return other(name)
		}
		return s(name)
	}
}

// hasTables says whether a model has tensors that are read while it runs.
func hasTables(shape rwkv.Shape) bool {
	return slices.ContainsFunc(shape.LayerTensors(), func(t rwkv.TensorSpec) bool { return t.Kind == rwkv.Table })
}

// sized finds a tensor and checks the number of its values.
func (s source) sized(name string, n int) (tensor, error) {
	t, err := s(name)
	if err != nil {
		return t, err
	}
	if got := t.len(); got != n {
		return t, fmt.Errorf("tensor %s: %d values where %d were expected", name, got, n)
	}
	return t, nil
}

// vector reads a whole small tensor of n values.
func (s source) vector(name string, n int) ([]float32, error) {
	t, err := s.sized(name, n)
	if err != nil {
		return nil, err
	}
	v := make([]float32, n)
	return v, t.read(v, 0)
}
