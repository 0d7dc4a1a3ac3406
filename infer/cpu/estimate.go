package cpu

import (
	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// An Estimate is what loading a model takes.
type Estimate struct {
	Weights string // the type that Options.Weights means for the file: "int8"
	Bytes   int64  // of memory, without states
}

// EstimateLoad says how much memory a model takes with Options.Weights, without
// loading it.
func EstimateLoad(f *checkpoint.File, shape rwkv.Shape, weights string) (Estimate, error) {
	typ, err := parseWeights(weights, fileType(f, shape))
	if err != nil {
		return Estimate{}, err
	}
	total := int64(0)
	for name, spec := range shape.Tensors() {
		if spec.Kind == rwkv.Table {
			continue // it stays in the file
		}
		n := int64(1)
		for _, d := range spec.Sizes(shape) {
			n *= int64(d)
		}
		total += storedBytes(n, storedType(f, name, spec.Kind, typ))
	}
	return Estimate{Weights: typ.String(), Bytes: total}, nil
}

// storedType is the type in which a tensor of the file is held.
func storedType(f *checkpoint.File, name string, kind rwkv.Kind, large kernel.Type) kernel.Type {
	switch kind {
	case rwkv.Matrix, rwkv.Embedding:
		return large
	case rwkv.LowRank, rwkv.LowRanks:
		if t, ok := f.Tensor(name); ok {
			return lowRankType(large, typeOf(t.DType))
		}
		return lowRankType(large, kernel.F32)
	default:
		return kernel.F32
	}
}

// storedBytes is what n weights of a type take.
func storedBytes(n int64, t kernel.Type) int64 {
	switch t {
	case kernel.F32:
		return 4 * n
	case kernel.Q8:
		return n + 2*n/kernel.BlockSize
	default:
		return 2 * n
	}
}
