package cpu

import (
	"fmt"

	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
)

// Options say how a model is loaded and run. The zero value has good defaults.
type Options struct {
	Threads int    // 0: one per processor
	Weights string // "fp32", "fp16", "bf16", "int8", or "auto" (or empty): as the file has them
	Slots   int    // states at most; memory is taken as they are used. 0: 256
	ISA     string // instruction set, for tests; empty: the best there is
	// Progress is told how many weights of the total are loaded. It is called
	// by one goroutine at a time.
	Progress func(done, total int64)
}

// defaultSlots is the size of the pool when Options do not say.
const defaultSlots = 256

// parseWeights reads Options.Weights; auto is what to use for "auto".
func parseWeights(s string, auto kernel.Type) (kernel.Type, error) {
	if s == "" || s == "auto" {
		return auto, nil
	}
	for t := kernel.F32; t <= kernel.Q8; t++ {
		if s == t.String() {
			return t, nil
		}
	}
	return 0, fmt.Errorf("weights %q: use auto, fp32, fp16, bf16 or int8", s)
}

// typeOf is the weight type for a stored type: the one that holds it exactly, or fp16
// for the packed types of GGUF files. Their values are steps of fp16 scales, and fp16
// rounds them by less than a thousandth of a step; fp32 would take twice the memory.
func typeOf(t checkpoint.DType) kernel.Type {
	switch t {
	case checkpoint.F16:
		return kernel.F16
	case checkpoint.BF16:
		return kernel.BF16
	case checkpoint.Q8, checkpoint.Q8_0:
		return kernel.Q8
	case checkpoint.F32, checkpoint.F64:
		return kernel.F32
	default:
		if t.Packed() {
			return kernel.F16
		}
		return kernel.F32
	}
}

// lowRankType is the type of the low-rank matrices in a model whose large ones have
// type t; file is their type in the file. They are small and control decay and
// gates, so they are never int8.
func lowRankType(t, file kernel.Type) kernel.Type {
	switch {
	case t != kernel.Q8:
		return t
	case file == kernel.BF16:
		return kernel.BF16
	default:
		return kernel.F16
	}
}
