package native

import "fmt"

// Options say how a model is loaded and run. The zero value is right, but for
// TokenLimit and Exempt where the model's vocabulary has them.
type Options struct {
	// Weights are "fp16" or "bf16": matrices, and the activations between them.
	// "auto" (or empty) is fp16, in which the released weights lose nothing and
	// activations are eight times as fine.
	Weights string
	// State is the width of the WKV state on the device: "fp32" (or empty) or "fp16".
	State string
	// Slots is how many states there may be, 4096 at most; where the memory does
	// not suffice for so many, there are fewer. 0: 256.
	Slots int
	// TokenLimit is how many ids have a token; those from there up are never
	// drawn. 0: all that the model has rows for.
	TokenLimit int
	// Exempt are the tokens that ModePip counts no occurrences of.
	Exempt []int32
	// Tuning is a directory for what tuning found, by device and shape; empty
	// keeps nothing.
	Tuning string
	// Progress is told how many weights of the total are loaded.
	Progress func(done, total int64)
}

const (
	defaultSlots = 256
	// defaultTokens is how many tokens of all rows together one step takes:
	// enough for matrix products to run at the device's best rate.
	defaultTokens = 4096
	// fewestSlots and fewestTokens are what is given up last for want of memory.
	fewestSlots, fewestTokens = 1, 256
	// mostSlots is how many rows the library takes in a step.
	mostSlots = 4096
)

// limits are the sizes that an engine is opened with.
type limits struct{ slots, tokens int }

func (o Options) limits() limits {
	slots := o.Slots
	if slots < 1 {
		slots = defaultSlots
	}
	slots = min(slots, mostSlots)
	return limits{slots, max(slots, defaultTokens)}
}

// less is what to try next when the memory does not suffice.
func (l limits) less() (limits, bool) {
	if l.slots == fewestSlots && l.tokens == fewestTokens {
		return l, false
	}
	slots := max(l.slots/2, fewestSlots)
	return limits{slots, max(l.tokens/2, slots, fewestTokens)}, true
}

func parseWeights(s string) (int32, error) {
	switch s {
	case "", "auto", "fp16":
		return typeF16, nil
	case "bf16":
		return typeBF16, nil
	}
	return 0, fmt.Errorf("weights %q: use auto, fp16 or bf16 on a GPU", s)
}

func parseState(s string) (int32, error) {
	switch s {
	case "", "fp32":
		return typeF32, nil
	case "fp16":
		return typeF16, nil
	}
	return 0, fmt.Errorf("state %q: use fp32 or fp16", s)
}

// typeSizes are in bytes.
var typeSizes = map[int32]int{typeF32: 4, typeF16: 2, typeBF16: 2}

var typeNames = map[int32]string{typeF32: "fp32", typeF16: "fp16", typeBF16: "bf16"}
