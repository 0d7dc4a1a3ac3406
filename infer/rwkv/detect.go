package rwkv

import (
	"fmt"
	"strconv"
	"strings"
)

// A Source is a set of named tensors, such as a *checkpoint.File. Dims have no
// leading 1s.
type Source interface {
	Names() []string
	Dims(name string) ([]int, bool)
}

// Bounds of a model; the largest released ones have 61 layers of 4,096 channels.
const (
	maxLayers   = 512
	maxEmbed    = 1 << 16
	maxFFN      = 1 << 20
	maxVocab    = 1 << 20
	maxHeadSize = 256
)

// Detect tells the version of a model by its tensors and reads its shape.
//
// A model of a version that can be run is checked completely: every tensor is
// there in the right shape and no other is. For other versions and relatives
// the error is an *UnsupportedError, and the Shape is filled as far as it can
// be read. For adapters and states it is a *NotModelError, for a tensor that is
// missing or does not fit a *TensorError.
func Detect(src Source) (Shape, error) {
	s := survey{src: src, suffixes: map[string]bool{}}
	if err := s.read(); err != nil {
		return Shape{}, err
	}
	if err := s.refuseOthers(); err != nil {
		return Shape{}, err
	}
	shape := s.shape(s.version())
	if what := s.relative(); what != "" {
		return shape, &UnsupportedError{Version: shape.Version, What: what, Runs: Runnable()}
	}
	switch {
	case shape.arch() != nil:
		return shape, s.validate(shape)
	case shape.Version == Unknown:
		return shape, &NotModelError{What: "a file without the tensors of any RWKV version", Remedy: "name a .pth, .safetensors or .gguf file of " + Names(Runnable())}
	}
	return shape, shape.CheckRunnable("", Runnable())
}

// A survey is what the names of a file's tensors tell.
type survey struct {
	src      Source
	names    []string
	suffixes map[string]bool // names without "blocks.N."
	layers   int
}

// read collects the names and counts the layers.
func (s *survey) read() error {
	s.names = s.src.Names()
	for _, name := range s.names {
		layer, rest, ok := splitLayer(name)
		if !ok {
			continue
		}
		if layer >= maxLayers {
			return &TensorError{Tensor: name, Problem: fmt.Sprintf("more than %d layers", maxLayers)}
		}
		s.layers = max(s.layers, layer+1)
		s.suffixes[rest] = true
	}
	return nil
}

// splitLayer splits "blocks.N.rest".
func splitLayer(name string) (layer int, rest string, ok bool) {
	after, ok := strings.CutPrefix(name, "blocks.")
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(after, ".")
	layer, err := strconv.Atoi(number)
	if !ok || err != nil || layer < 0 || strconv.Itoa(layer) != number {
		return 0, "", false
	}
	return layer, rest, true
}

// has says whether any layer has the tensor.
func (s *survey) has(suffix string) bool { return s.suffixes[suffix] }

// hasPart says whether the name of any tensor contains the text.
func (s *survey) hasPart(text string) bool {
	for _, name := range s.names {
		if strings.Contains(name, text) {
			return true
		}
	}
	return false
}

// dims is the shape of a tensor of layer 0, or nil.
func (s *survey) dims(suffix string) []int {
	d, _ := s.src.Dims("blocks.0." + suffix)
	return d
}

// refuseOthers names files that belong to a model but are none.
func (s *survey) refuseOthers() error {
	const useAsAdapter = "load it as an adapter on top of its base model"
	switch {
	case s.hasPart(".lora_A_expert") || s.hasPart(".bone_expert") || s.has("ffn.router.linear.weight"):
		return &NotModelError{What: "a mixture of LoRA experts (MoLE)", Remedy: useAsAdapter}
	case s.hasPart(".lora_M"):
		return &NotModelError{What: "a DoRA adapter", Remedy: useAsAdapter}
	case s.hasPart("init_lora_A"):
		return &NotModelError{What: "a PiSSA initialisation", Remedy: useAsAdapter}
	case s.hasPart(".lora_A") || s.hasPart(".lora_B"):
		return &NotModelError{What: "a LoRA adapter", Remedy: useAsAdapter}
	case s.hasPart(".disha"):
		return &NotModelError{What: "a DiSHA adapter", Remedy: useAsAdapter}
	case s.hasPart(".bone"):
		return &NotModelError{What: "a Bone adapter", Remedy: useAsAdapter}
	case s.has("att.time_state") && !s.has("att.key.weight"):
		return &NotModelError{What: "a tuned initial state (time_state)", Remedy: "start a conversation of its model from it"}
	}
	return nil
}

// version follows the keys that each generation brought.
func (s *survey) version() Version {
	for _, v := range Runnable() {
		if versions[v].arch.recognises(s) {
			return v
		}
	}
	return Unknown
}

// relative names architectures that share tensors with a version and compute
// something else; it is empty for the version itself.
func (s *survey) relative() string {
	swiglu := s.has("ffn.down.weight")
	switch {
	case s.hasPart("rosa"):
		return "RWKV-8 (ROSA)"
	case swiglu && s.has("att.x_a"):
		return "ARWKV (xa070), a SwiGLU relative of RWKV-7"
	case swiglu && s.has("att.k0"):
		return "hxa079, a hybrid relative of RWKV-7 with attention layers"
	case swiglu && s.hasPart(".q_proj."):
		return "hxa078 or hxa07a, a hybrid relative of RWKV-7 with attention layers"
	case swiglu && s.has("att.ln_x.weight"):
		return "PRWKV (cxa073), a SwiGLU relative of RWKV-7"
	case swiglu && s.has("att.k_k"):
		return "PRWKV (cxa075), a SwiGLU relative of RWKV-7"
	case swiglu:
		return "PRWKV (cxa076), a SwiGLU relative of RWKV-7"
	case s.has("qkv.qq.weight"):
		return "RWKV-7b, RWKV-7 with DeepEmbed and attention"
	case s.has("att.time_state"):
		return "a model with a tuned initial state merged into it (time_state)"
	}
	return ""
}

// shape reads what the tensors say. Sizes that cannot be read stay 0.
func (s *survey) shape(v Version) Shape {
	out := Shape{Version: v, Layers: s.layers}
	if d, ok := s.src.Dims("emb.weight"); ok && len(d) == 2 {
		out.Vocab, out.Embed = d[0], d[1]
	}
	if d := s.dims("ffn.key.weight"); len(d) == 2 {
		out.FFN = d[0]
	}
	if a := out.arch(); a != nil {
		a.complete(s, &out)
	}
	return out
}

// embed is the number of channels, or 0.
func (s *survey) embed() int {
	if d, ok := s.src.Dims("emb.weight"); ok && len(d) == 2 {
		return d[1]
	}
	return 0
}

// heads reads the heads from a tensor [heads, head size] of layer 0.
func (s *survey) heads(suffix string, out *Shape) {
	switch d := s.dims(suffix); len(d) {
	case 2:
		out.Heads, out.HeadSize = d[0], d[1]
	case 1: // a single head, its leading 1 removed
		out.Heads, out.HeadSize = 1, d[0]
	}
}

// rank is the inner size of a low-rank matrix stored [in, rank]: the largest of the
// layers from first on.
func (s *survey) rank(first int, suffix string) int {
	most := 0
	for layer := first; layer < s.layers; layer++ {
		if d, ok := s.src.Dims(LayerName(layer, suffix)); ok && len(d) == 2 {
			most = max(most, d[1])
		}
	}
	return most
}
