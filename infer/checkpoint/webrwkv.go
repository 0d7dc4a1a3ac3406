package checkpoint

import (
	"strings"
)

// fromWebRWKV gives the tensors of web-rwkv's converted files their canonical
// names and shapes. Such files have lower-case names and hold the low-rank
// matrices transposed, [out, in]; reading transposes them back. A file of nothing
// but time_state looks like a plain one and is not changed.
func (f *File) fromWebRWKV() error {
	if !f.isWebRWKV() {
		return nil
	}
	f.format += " (web-rwkv)"
	renamed, five := slicesContainSuffix(f.order, ".att.time_mix_w1"), f.isWebFive()
	return f.rename(func(t *Tensor) error {
		if webTransposed(t.Name) && len(t.Shape) >= 2 {
			t.transposeLast()
		}
		t.Name = canonicalName(t.Name, renamed)
		if five {
			t.Name = strings.Replace(t.Name, ".time_first", ".time_faaaa", 1)
		}
		return f.add(t)
	})
}

// isWebRWKV tells the converted form by what only it has: LoRA names with
// numbers, a renamed low-rank mix, or a low-rank decay matrix that is transposed.
func (f *File) isWebRWKV() bool {
	if slicesContainSuffix(f.order, ".lora.0") || slicesContainSuffix(f.order, ".att.time_mix_w1") || f.isWebFive() {
		return true
	}
	emb, okEmb := f.byName["emb.weight"]
	w1, okW1 := f.byName["blocks.0.att.w1"]
	if !okEmb || !okW1 || len(emb.Shape) != 2 || len(w1.Shape) != 2 {
		return false
	}
	return w1.Shape[1] == emb.Shape[1] && w1.Shape[0] != emb.Shape[1]
}

// isWebFive tells a converted RWKV-5.2 by the name of its bonus. In released files
// time_first is of older versions, has a value for each head and is meant as a logarithm.
func (f *File) isWebFive() bool {
	bonus, ok := f.byName["blocks.0.att.time_first"]
	_, gate := f.byName["blocks.0.att.gate.weight"]
	return ok && gate && len(bonus.Shape) == 2
}

// webTransposed says whether web-rwkv's converter transposes the last two
// dimensions of a tensor of this (converted) name.
func webTransposed(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch last {
	case "time_mix_w1", "time_mix_w2", "time_decay_w1", "time_decay_w2", "w1", "w2", "a1", "a2", "g1", "g2", "v1", "v2", "time_state":
		return true
	}
	return strings.HasSuffix(name, "lora.0")
}

// canonicalName undoes web-rwkv's renaming. renamed says that the file is of a
// version whose mixes and bonus have other names in it.
func canonicalName(name string, renamed bool) string {
	name = strings.Replace(name, "lora.0", "lora_A", 1)
	name = strings.Replace(name, "lora.1", "lora_B", 1)
	if renamed {
		name = strings.Replace(name, ".time_mix", ".time_maa", 1)
		name = strings.Replace(name, ".time_first", ".time_faaaa", 1)
	}
	return name
}

// transposeLast turns the last two dimensions, without moving data.
func (t *Tensor) transposeLast() {
	if t.stride == nil {
		t.stride = make([]int, len(t.Shape))
		step := 1
		for i := len(t.Shape) - 1; i >= 0; i-- {
			t.stride[i] = step
			step *= t.Shape[i]
		}
	}
	n := len(t.Shape)
	t.Shape[n-1], t.Shape[n-2] = t.Shape[n-2], t.Shape[n-1]
	t.stride[n-1], t.stride[n-2] = t.stride[n-2], t.stride[n-1]
}

func slicesContainSuffix(tensors []*Tensor, suffix string) bool {
	for _, t := range tensors {
		if strings.HasSuffix(t.Name, suffix) {
			return true
		}
	}
	return false
}
