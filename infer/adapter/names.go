package adapter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rookery/infer/rwkv"
)

// A part is what a tensor of an adapter file is.
type part uint8

const (
	partNone part = iota
	partLoraA
	partLoraB
	partLoraM
	partInitA
	partInitB
	partBone // .bone and .disha; the shape says which form it is
	partRouter
	partMoleInfo
	partState
	partOffset
	partReplaced
)

// TimeOffset is a tensor that post-wkv tuning (RWKV-LM-RLHF) trains in every layer
// beside a tuned state: y ← y⊙(1+offset) before the norm of the heads. No model
// has it.
const TimeOffset = "att.time_offset"

// A place says where a tensor belongs. layer is -1 for the head, expert is -1
// without experts.
type place struct {
	part   part
	layer  int
	target Target
	expert int
}

var suffixes = map[string]part{
	"lora_A": partLoraA, "lora_B": partLoraB, "lora_M": partLoraM,
	"init_lora_A": partInitA, "init_lora_B": partInitB,
	"bone": partBone, "disha": partBone,
	"lora_A_expert_0": partLoraA, "lora_B_expert_0": partLoraB, "bone_expert_0": partBone,
}

var (
	layerName  = regexp.MustCompile(`^blocks\.(\d{1,4})\.(.+)$`)
	expertName = regexp.MustCompile(`^ffn\.expert_(\d{1,3})\.(key|value)\.(\w+_expert_0)$`)
)

// locate reads the name of a tensor in an adapter for a model of shape s. known
// says whether the model has a tensor.
func locate(name string, s rwkv.Shape, known func(string) bool) place {
	at := place{layer: -1, expert: -1}
	name = plainName(name)
	if known(name) {
		at.part = partReplaced
		return at
	}
	if m := layerName.FindStringSubmatch(name); m != nil {
		at.layer, _ = strconv.Atoi(m[1]) // four digits at most
		name = m[2]
	}
	if m := expertName.FindStringSubmatch(name); m != nil && at.layer >= 0 {
		at.expert, _ = strconv.Atoi(m[1])
		at.target = FFNKey
		if m[2] == "value" {
			at.target = FFNValue
		}
		at.part = suffixes[m[3]]
		return at
	}
	switch name {
	case "ffn.router.linear.weight":
		at.part = partRouter
		return at
	case "ffn.moe_info":
		at.part = partMoleInfo
		return at
	case "att.time_state":
		at.part = partState
		return at
	case TimeOffset:
		at.part = partOffset
		return at
	}
	weight, suffix, ok := cutLast(name)
	targets, outside := s.Targets()
	if at.layer < 0 {
		targets = outside
	}
	if ok && slices.Contains(targets, weight) {
		at.target, at.part = Target(weight), suffixes[suffix]
	}
	return at
}

// plainName is a tensor's name without what trainers put around it: the names of
// the objects that the model is in, and the ending that PEFT gives to halves of LoRA.
func plainName(name string) string {
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(name, "base_model."), "model.")
		if rest == name {
			break
		}
		name = rest
	}
	for _, half := range []string{".lora_A", ".lora_B"} {
		for _, end := range []string{".weight", ".default.weight", ".default"} {
			if plain, ok := strings.CutSuffix(name, end); ok && strings.HasSuffix(plain, half) {
				return plain
			}
		}
	}
	return name
}

var (
	partName  = regexp.MustCompile(`\.(lora_[ABM]|init_lora_[AB]|bone|disha|router\.linear\.weight|moe_info|\w+_expert_0)$`)
	modelName = regexp.MustCompile(`^(blocks\.\d{1,4}\.(att|ffn|ln[0-2])\.|emb\.weight$|head\.|ln_out\.)`)
)

// MayBelong says whether a tensor of a file that holds a tuned state too may be part of
// an adapter, by its name alone. Open says whether it is.
func MayBelong(name string) bool {
	name = plainName(name)
	return partName.MatchString(name) || modelName.MatchString(name)
}

// cutLast splits a name at its last dot.
func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
