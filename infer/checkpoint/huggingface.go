package checkpoint

import (
	"regexp"
	"strings"
)

// A renaming is how one tensor of a Hugging Face checkpoint is called in released files.
type renaming struct {
	from, to   string // after the layer's prefix
	transposed bool
}

// flaLayer are the tensors of a layer of RWKV-7 in flash-linear-attention, which keeps
// the low-rank matrices as the weights of linear layers, [out, in].
var flaLayer = []renaming{
	{"pre_norm.", "ln0.", false},
	{"attn_norm.", "ln1.", false},
	{"ffn_norm.", "ln2.", false},
	{"attn.r_proj.", "att.receptance.", false},
	{"attn.k_proj.", "att.key.", false},
	{"attn.v_proj.", "att.value.", false},
	{"attn.o_proj.", "att.output.", false},
	{"attn.g_norm.", "att.ln_x.", false},
	{"attn.w_lora.lora.0.weight", "att.w1", true},
	{"attn.w_lora.lora.2.weight", "att.w2", true},
	{"attn.w_lora.lora.2.bias", "att.w0", false},
	{"attn.a_lora.lora.0.weight", "att.a1", true},
	{"attn.a_lora.lora.2.weight", "att.a2", true},
	{"attn.a_lora.lora.2.bias", "att.a0", false},
	{"attn.v_lora.lora.0.weight", "att.v1", true},
	{"attn.v_lora.lora.2.weight", "att.v2", true},
	{"attn.v_lora.lora.2.bias", "att.v0", false},
	{"attn.g_lora.lora.0.weight", "att.g1", true},
	{"attn.g_lora.lora.2.weight", "att.g2", true},
	{"attn.", "att.", false},
	{"ffn.", "ffn.", false},
}

// flaModel are the tensors outside the layers.
var flaModel = []renaming{
	{"model.embeddings.", "emb.", false}, {"model.norm.", "ln_out.", false}, {"lm_head.", "head.", false},
}

// flaFused are the mixes that older versions keep in one tensor, in its order.
var flaFused = []string{"att.x_r", "att.x_w", "att.x_k", "att.x_v", "att.x_a", "att.x_g"}

var flaPrefix = regexp.MustCompile(`^model\.layers\.(\d+)\.(.*)$`)

// transformersNames are the parts of names in the transformers package's RWKV-4 and in
// the RWKV-5 and 6 that were published in its form.
var transformersNames = strings.NewReplacer(
	"rwkv.embeddings.", "emb.", "rwkv.ln_out.", "ln_out.", "rwkv.blocks.", "blocks.",
	".pre_ln.", ".ln0.", ".attention.", ".att.", ".feed_forward.", ".ffn.",
	"time_mix_key", "time_mix_k", "time_mix_value", "time_mix_v", "time_mix_receptance", "time_mix_r", "time_mix_gate", "time_mix_g",
)

// fromHuggingFace gives the tensors of checkpoints of flash-linear-attention and of the
// transformers package their released names.
func (f *File) fromHuggingFace() error {
	_, fla := f.byName["model.layers.0.attn.r_proj.weight"]
	_, transformers := f.byName["rwkv.blocks.0.attention.key.weight"]
	switch {
	case fla:
		f.format += " (fla)"
		return f.rename(f.flaTensor)
	case transformers:
		f.format += " (transformers)"
		return f.rename(func(t *Tensor) error {
			t.Name = transformersNames.Replace(t.Name)
			return f.add(t)
		})
	}
	return nil
}

// rename adds every tensor again, as add does it.
func (f *File) rename(add func(t *Tensor) error) error {
	tensors := f.order
	f.order, f.byName = nil, make(map[string]*Tensor, len(tensors))
	for _, t := range tensors {
		if err := add(t); err != nil {
			return err
		}
	}
	return nil
}

// flaTensor adds a tensor of flash-linear-attention.
func (f *File) flaTensor(t *Tensor) error {
	prefix, rest, names := "", t.Name, flaModel
	if m := flaPrefix.FindStringSubmatch(t.Name); m != nil {
		prefix, rest, names = "blocks."+m[1]+".", m[2], flaLayer
	}
	if rest == "attn.x_x" {
		return f.addParts(t, prefix, flaFused)
	}
	for _, n := range names {
		after, ok := strings.CutPrefix(rest, n.from)
		if !ok {
			continue
		}
		t.Name = prefix + n.to + after
		if n.transposed && len(t.Shape) >= 2 {
			t.transposeLast()
		}
		break
	}
	return f.add(t)
}

// addParts adds the rows of a tensor [len(names), ...] as tensors of their own.
func (f *File) addParts(t *Tensor, prefix string, names []string) error {
	n := len(names)
	each := t.Len() / n
	if len(t.Shape) == 0 || t.Shape[0] != n || t.stride != nil || each == 0 || each%layouts[t.DType].values != 0 {
		return refuseTensor(t.Name, downloadAgain, "its shape %v does not hold %d mixes", t.Shape, n)
	}
	for i, name := range names {
		part := &Tensor{Name: prefix + name, DType: t.DType, Shape: []int{each}, image: t.image, member: t.member}
		part.offset = t.offset + t.DType.bytes(int64(i*each))
		if err := f.add(part); err != nil {
			return err
		}
	}
	return nil
}
