package checkpoint

import (
	"math"
	"strconv"
	"strings"
)

// ggufModel are the tensors outside the layers, without ".weight" or ".bias".
var ggufModel = map[string]string{
	"token_embd": "emb", "token_embd_norm": "blocks.0.ln0", "output_norm": "ln_out", "output": "head",
}

// A ggufName is how a tensor of a layer is called in GGUF and in released files.
type ggufName struct {
	gguf, released string
	transposed     bool // the last two dimensions
}

// ggufLayer are the tensors of a layer that both versions have, with ".weight" or
// ".bias" left out in both names.
var ggufLayer = []ggufName{
	{"attn_norm", "ln1", false},
	{"attn_norm_2", "ln2", false},
	{"time_mix_ln", "att.ln_x", false},
	{"time_mix_receptance", "att.receptance", false},
	{"time_mix_key", "att.key", false},
	{"time_mix_value", "att.value", false},
	{"time_mix_output", "att.output", false},
	{"time_mix_gate", "att.gate", false},
	{"channel_mix_key", "ffn.key", false},
	{"channel_mix_value", "ffn.value", false},
	{"channel_mix_receptance", "ffn.receptance", false},
}

// A ggufArch is what is peculiar to the tensors of an architecture. The names in its
// layer end in ".weight" in GGUF only.
type ggufArch struct {
	layer []ggufName
	// fused are the mixes that lie in one tensor, in its order.
	fused []string
}

const ggufFused = "time_mix_lerp_fused"

var ggufArchs = map[string]ggufArch{
	"rwkv6": {
		layer: []ggufName{
			{"time_mix_lerp_x", "att.time_maa_x", false},
			{"time_mix_lerp_w", "att.time_maa_w", false},
			{"time_mix_lerp_k", "att.time_maa_k", false},
			{"time_mix_lerp_v", "att.time_maa_v", false},
			{"time_mix_lerp_r", "att.time_maa_r", false},
			{"time_mix_lerp_g", "att.time_maa_g", false},
			{"time_mix_w1", "att.time_maa_w1", true},
			{"time_mix_w2", "att.time_maa_w2", true},
			{"time_mix_first", "att.time_faaaa", false},
			{"time_mix_decay", "att.time_decay", false},
			{"time_mix_decay_w1", "att.time_decay_w1", true},
			{"time_mix_decay_w2", "att.time_decay_w2", true},
			{"channel_mix_lerp_k", "ffn.time_maa_k", false},
			{"channel_mix_lerp_r", "ffn.time_maa_r", false},
		},
		fused: []string{"att.time_maa_w", "att.time_maa_k", "att.time_maa_v", "att.time_maa_r", "att.time_maa_g"},
	},
	"rwkv7": {
		layer: []ggufName{
			{"time_mix_w0", "att.w0", false},
			{"time_mix_w1", "att.w1", true},
			{"time_mix_w2", "att.w2", true},
			{"time_mix_a0", "att.a0", false},
			{"time_mix_a1", "att.a1", true},
			{"time_mix_a2", "att.a2", true},
			{"time_mix_v0", "att.v0", false},
			{"time_mix_v1", "att.v1", true},
			{"time_mix_v2", "att.v2", true},
			{"time_mix_g1", "att.g1", true},
			{"time_mix_g2", "att.g2", true},
			{"time_mix_k_k", "att.k_k", false},
			{"time_mix_k_a", "att.k_a", false},
			{"time_mix_r_k", "att.r_k", false},
			{"channel_mix_lerp_k", "ffn.x_k", false},
		},
		fused: []string{"att.x_r", "att.x_w", "att.x_k", "att.x_v", "att.x_a", "att.x_g"},
	},
}

// ggufRelatives are architectures that share names with these and compute something else.
var ggufRelatives = map[string]string{
	"rwkv6qwen2": "RWKV6-Qwen2, a relative of RWKV-6", "arwkv7": "ARWKV, a SwiGLU relative of RWKV-7",
}

// fromGGUF gives the tensors their released names and shapes.
func (f *File) fromGGUF(name string) error {
	arch, ok := ggufArchs[name]
	if !ok {
		if what := ggufRelatives[name]; what != "" {
			return refuse("use an RWKV-6 or RWKV-7 model", "this is %s, which is not run", what)
		}
		return refuse("use an RWKV-6 or RWKV-7 model", "a GGUF file of the architecture %s, which is not RWKV", quoted(name))
	}
	g := ggufReader{file: f, arch: arch}
	if err := g.readMetadata(name); err != nil {
		return err
	}
	return f.rename(g.add)
}

// A ggufReader renames the tensors of a file.
type ggufReader struct {
	file     *File
	arch     ggufArch
	headSize int
	rescale  int // every so many layers two matrices were halved; 0: never
}

// readMetadata reads what the tensors do not tell.
func (g *ggufReader) readMetadata(arch string) error {
	number := func(key string) int {
		n, err := strconv.Atoi(g.file.metadata[arch+"."+key])
		if err != nil || n < 0 || n > maxName*maxName {
			return 0
		}
		return n
	}
	g.headSize, g.rescale = number("wkv.head_size"), number("rescale_every_n_layers")
	text, ok := g.file.metadata[arch+".attention.layer_norm_epsilon"]
	if eps, err := strconv.ParseFloat(text, 64); ok && (err != nil || math.Abs(eps-1e-5) > 1e-8) {
		return refuse(useRelease, "a layer norm epsilon of %s, RWKV has 1e-05", quoted(text))
	}
	return nil
}

// add adds a tensor under its released name.
func (g *ggufReader) add(t *Tensor) error {
	stored := t.Name
	base, kind, _ := strings.Cut(stored, ".")
	if released, ok := ggufModel[base]; ok {
		t.Name = released + "." + kind
		return g.file.add(t)
	}
	number, rest, ok := strings.Cut(kind, ".")
	layer, err := strconv.Atoi(number)
	if base != "blk" || !ok || err != nil {
		return refuseTensor(stored, useRelease, "the architecture has no such tensor")
	}
	name, kind, _ := strings.Cut(rest, ".")
	prefix := "blocks." + number + "."
	if name == ggufFused {
		return g.addFused(t, prefix)
	}
	for _, n := range ggufLayer {
		if n.gguf == name {
			t.Name = prefix + n.released + "." + kind
			g.undoRescale(t, n.released, layer)
			return g.file.add(t)
		}
	}
	for _, n := range g.arch.layer {
		if n.gguf != name {
			continue
		}
		if layer == 0 && strings.HasPrefix(n.released, "att.v") {
			return nil // copies of a0, a1 and a2, which nothing reads
		}
		t.Name = prefix + n.released
		if n.transposed && len(t.Shape) >= 2 {
			t.transposeLast()
		}
		if h := g.headSize; n.released == "att.r_k" && len(t.Shape) == 1 && h > 0 && t.Shape[0]%h == 0 {
			t.Shape = squeezedInts([]int{t.Shape[0] / h, h})
		}
		return g.file.add(t)
	}
	return refuseTensor(stored, useRelease, "the architecture has no such tensor")
}

// addFused adds the mixes that lie in one tensor [mixes, channels].
func (g *ggufReader) addFused(t *Tensor, prefix string) error {
	return g.file.addParts(t, prefix, g.arch.fused)
}

// undoRescale makes good for halving: for fp16 activations, converters divide two
// matrices of layer i by 2^(i/n).
func (g *ggufReader) undoRescale(t *Tensor, released string, layer int) {
	if g.rescale == 0 || layer < g.rescale || released != "att.output" && released != "ffn.value" {
		return
	}
	factor := float32(math.Ldexp(1, min(layer/g.rescale, 64)))
	t.alter = func(values []float32) {
		for i := range values {
			values[i] *= factor
		}
	}
}

func squeezedInts(shape []int) []int {
	for len(shape) > 1 && shape[0] == 1 {
		shape = shape[1:]
	}
	return shape
}
