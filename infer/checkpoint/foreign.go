package checkpoint

import (
	"slices"
	"strings"
)

// refuseForeignNames recognises checkpoints of other programs by their tensor names.
// It comes before the search for missing tensors.
func refuseForeignNames(f *File) error {
	if len(f.order) == 0 {
		return refuse(useRelease, "there are no tensors inside")
	}
	has := func(match func(name string) bool) bool {
		return slices.ContainsFunc(f.order, func(t *Tensor) bool { return match(t.Name) })
	}
	switch {
	case has(func(n string) bool {
		return strings.HasSuffix(n, "_proj.lora_A.weight") || strings.HasPrefix(n, "base_model.model.") && !strings.Contains(n, ".blocks.") && !strings.Contains(n, ".head.")
	}):
		return refuse("use an adapter of RWKV-PEFT or RWKV-LM-RLHF", "this is a Hugging Face PEFT adapter")
	case has(func(n string) bool {
		return strings.HasPrefix(n, "model.layers.") || strings.HasPrefix(n, "rwkv.blocks.")
	}):
		return refuse(useRelease, "this is a Hugging Face transformers checkpoint of another architecture")
	case has(func(n string) bool { return strings.HasSuffix(n, ".weight_mx") }):
		return refuse("use the original .pth it was made from", "a file converted by the rwkv package for one strategy")
	}
	return nil
}
