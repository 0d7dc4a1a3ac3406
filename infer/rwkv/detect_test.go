package rwkv_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/infer/rwkv"
)

// tensors is a Source: shapes by name.
type tensors map[string][]int

func (s tensors) Names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s tensors) Dims(name string) ([]int, bool) {
	d, ok := s[name]
	return d, ok
}

var small = rwkv.Shape{
	Version: rwkv.V7, Layers: 3, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300,
	Ranks: rwkv.Ranks{16, 8, 24, 32},
}

// others are shapes of the other versions that can be run.
var others = []rwkv.Shape{
	{Version: rwkv.V6, Layers: 3, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300, Ranks: rwkv.Ranks{8, 16}},
	{Version: rwkv.V7A, Layers: 2, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300, Ranks: rwkv.Ranks{16, 8, 24, 32, 4}},
	{Version: rwkv.V52, Layers: 2, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300},
	{Version: rwkv.V52, Layers: 2, Embed: 128, Heads: 1, HeadSize: 128, FFN: 448, Vocab: 300},
	{Version: rwkv.V51, Layers: 2, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300},
	{Version: rwkv.V50, Layers: 2, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 300},
	{Version: rwkv.V4, Layers: 2, Embed: 128, Heads: 128, HeadSize: 1, FFN: 512, Vocab: 300},
}

// modelOf has the tensors of a model.
func modelOf(s rwkv.Shape) tensors {
	out := tensors{}
	for name, spec := range s.Tensors() {
		out[name] = spec.Sizes(s)
		for len(out[name]) > 1 && out[name][0] == 1 { // as a checkpoint gives them
			out[name] = out[name][1:]
		}
	}
	return out
}

func TestDetectV7(t *testing.T) {
	oneHead, oneLayer := small, small
	oneHead.Heads, oneHead.HeadSize = 1, 128
	oneLayer.Layers, oneLayer.Ranks[2] = 1, 0
	for name, shape := range map[string]rwkv.Shape{"small": small, "one head": oneHead, "one layer": oneLayer} {
		got, err := rwkv.Detect(modelOf(shape))
		if err != nil || got != shape {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, shape)
		}
	}
}

func TestDetectOthers(t *testing.T) {
	for _, shape := range others {
		if got, err := rwkv.Detect(modelOf(shape)); err != nil || got != shape {
			t.Errorf("%+v, %v, want %+v", got, err, shape)
		}
		shape.Layers = 1
		if shape.Version == rwkv.V7A {
			shape.Ranks[2] = 0 // layer 0 has no value residual
		}
		if got, err := rwkv.Detect(modelOf(shape)); err != nil || got != shape {
			t.Errorf("one layer: %+v, %v, want %+v", got, err, shape)
		}
	}
}

// Released files may have the value residual of layer 0, in any shape.
func TestDetectFirstValueResidual(t *testing.T) {
	m := modelOf(small)
	m["blocks.0.att.v0"], m["blocks.0.att.v1"], m["blocks.0.att.v2"] = []int{128}, []int{1}, []int{0}
	if got, err := rwkv.Detect(m); err != nil || got != small {
		t.Errorf("%+v, %v", got, err)
	}
}

// Ranks may differ by layer: the model's are the largest.
func TestDetectRanksOfLayers(t *testing.T) {
	m := modelOf(small)
	m["blocks.0.att.w1"], m["blocks.0.att.w2"] = []int{128, 5}, []int{5, 128}
	m["blocks.2.att.v1"], m["blocks.2.att.v2"] = []int{128, 30}, []int{30, 128}
	m["blocks.1.att.v1"], m["blocks.1.att.v2"] = []int{128, 3}, []int{3, 128}
	want := small
	want.Ranks[2] = 30
	if got, err := rwkv.Detect(m); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	six := others[0]
	m = modelOf(six)
	m["blocks.1.att.time_maa_w1"], m["blocks.1.att.time_maa_w2"] = []int{128, 15}, []int{5, 3, 128}
	if got, err := rwkv.Detect(m); err != nil || got != six {
		t.Errorf("%+v, %v, want %+v", got, err, six)
	}
	m["blocks.1.att.time_maa_w2"] = []int{5, 4, 128}
	if _, err := rwkv.Detect(m); err == nil {
		t.Error("a branch of two ranks was accepted")
	}
}

// Every tensor is needed, and in its shape.
func TestDetectChecksEveryTensor(t *testing.T) {
	check := func(what, name string, m tensors) {
		t.Helper()
		_, err := rwkv.Detect(m)
		if err == nil {
			t.Errorf("%s %s: accepted", name, what)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: more than one line: %q", name, what, err)
		}
	}
	for _, shape := range append(others, small) {
		for name, spec := range shape.Tensors() {
			m := modelOf(shape)
			delete(m, name)
			check("missing", name, m)
			for _, dims := range [][]int{{}, {0}, {7}, append(spec.Sizes(shape), 2), {0, 0}, {-1, -1}, {math.MaxInt, math.MaxInt}, make([]int, 3)} {
				m[name] = dims
				check(fmt.Sprint("of shape ", dims), name, m)
			}
		}
	}
}

func TestDetectNamesTheTensor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(tensors)
		part   string
	}{
		"missing":        {func(m tensors) { delete(m, "blocks.2.ffn.x_k") }, `"blocks.2.ffn.x_k": it is missing`},
		"cut off":        {func(m tensors) { delete(m, "head.weight") }, `"head.weight": it is missing`},
		"no embedding":   {func(m tensors) { delete(m, "emb.weight") }, `"emb.weight": it is missing`},
		"wrong shape":    {func(m tensors) { m["blocks.1.att.w2"] = []int{128, 16} }, `"blocks.1.att.w2": its shape is [128 16], the rest of the model needs [16 128]`},
		"other rank":     {func(m tensors) { m["blocks.1.att.g1"] = []int{128, 31} }, `"blocks.1.att.g2": its shape is [32 128], the rest of the model needs [31 128]`},
		"flat embedding": {func(m tensors) { m["emb.weight"] = []int{300} }, `"emb.weight": its shape [300] cannot be`},
		"heads":          {func(m tensors) { m["blocks.0.att.r_k"] = []int{3, 64} }, "3 heads of 64 are not the 128 channels"},
		"huge head":      {func(m tensors) { m["blocks.0.att.r_k"] = []int{1, math.MaxInt} }, "at most 256"},
		"huge vocab":     {func(m tensors) { m["emb.weight"] = []int{math.MaxInt, 128} }, "vocabulary entries, at most"},
		"huge embedding": {func(m tensors) { m["emb.weight"] = []int{300, math.MaxInt} }, "channels, at most"},
		"huge rank":      {func(m tensors) { m["blocks.0.att.w1"] = []int{128, math.MaxInt} }, "ranks, at most"},
		"too many":       {func(m tensors) { m["blocks.512.ln1.weight"] = []int{128} }, "more than 512 layers"},
		"gap":            {func(m tensors) { m["blocks.7.ln1.weight"] = []int{128} }, "it is missing"},
		"unknown":        {func(m tensors) { m["blocks.1.att.extra"] = []int{128} }, `"blocks.1.att.extra": RWKV-7 has no such tensor`},
		"odd number":     {func(m tensors) { m["blocks.01.ln1.weight"] = []int{128} }, `"blocks.01.ln1.weight": RWKV-7 has no such tensor`},
	} {
		m := modelOf(small)
		c.change(m)
		_, err := rwkv.Detect(m)
		var te *rwkv.TensorError
		if !errors.As(err, &te) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want %s", name, err, c.part)
		}
	}
}

// older makes the tensors that a version is told by, with two layers.
func older(model map[string][]int, layer map[string][]int) tensors {
	m := tensors{"emb.weight": {50, 8}, "head.weight": {50, 8}}
	for name, dims := range model {
		m[name] = dims
	}
	for i := range 2 {
		for name, dims := range layer {
			m[rwkv.LayerName(i, name)] = dims
		}
	}
	return m
}

// Some files of RWKV-5 have the logarithm of time_faaaa, and decays of [heads, 1].
func TestDetectLogarithms(t *testing.T) {
	for _, shape := range others {
		m := modelOf(shape)
		for i := range shape.Layers {
			if shape.Version >= rwkv.V50 && shape.Version <= rwkv.V52 {
				m[rwkv.LayerName(i, "att.time_first")] = m[rwkv.LayerName(i, "att.time_faaaa")]
				delete(m, rwkv.LayerName(i, "att.time_faaaa"))
			}
			if shape.Version == rwkv.V51 {
				m[rwkv.LayerName(i, "att.time_decay")] = []int{shape.Heads, 1}
			}
		}
		if got, err := rwkv.Detect(m); err != nil || got != shape {
			t.Errorf("%+v, %v, want %+v", got, err, shape)
		}
	}
}

func TestDetectRelatives(t *testing.T) {
	for says, added := range map[string][]string{
		"RWKV-7b":       {"ffn.s_emb.weight", "qkv.qq.weight"},
		"initial state": {"att.time_state"},
		"RWKV-8 (ROSA)": {"att.rosa_qkv.weight"},
		"ARWKV":         {"ffn.down.weight"},
	} {
		m := modelOf(small)
		for _, name := range added {
			m[rwkv.LayerName(0, name)] = []int{2, 2}
		}
		got, err := rwkv.Detect(m)
		var ue *rwkv.UnsupportedError
		if !errors.As(err, &ue) || !strings.Contains(err.Error(), says) || got.Layers != 3 {
			t.Errorf("%s: %+v, %v", says, got, err)
		}
	}
	for says, names := range map[string][]string{
		"cxa073": {"ffn.down.weight", "att.r_k", "att.ln_x.weight"},
		"cxa075": {"ffn.down.weight", "att.r_k", "att.k_k"},
		"cxa076": {"ffn.down.weight", "att.r_k"},
		"hxa078": {"ffn.down.weight", "att.r_k", "att.q_proj.weight"},
		"hxa079": {"ffn.down.weight", "att.r_k", "att.q_proj.weight", "att.k0"},
	} {
		layer := map[string][]int{}
		for _, name := range names {
			layer[name] = []int{2, 4}
		}
		if _, err := rwkv.Detect(older(nil, layer)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestDetectNotModels(t *testing.T) {
	for says, name := range map[string]string{
		"a LoRA adapter":                "blocks.0.att.key.lora_A",
		"a DoRA adapter":                "blocks.0.att.key.lora_M",
		"a PiSSA initialisation":        "model.blocks.0.att.key.init_lora_A",
		"a Bone adapter":                "blocks.0.att.key.bone",
		"a DiSHA adapter":               "blocks.0.att.key.disha",
		"a mixture of LoRA experts":     "blocks.0.ffn.expert_1.key.lora_A_expert_0",
		"a tuned initial state":         "blocks.0.att.time_state",
		"without the tensors":           "conv1.weight",
		"the tensors of any RWKV versi": "blocks.x.att.r_k",
	} {
		_, err := rwkv.Detect(tensors{name: {2, 2}})
		var ne *rwkv.NotModelError
		if !errors.As(err, &ne) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rwkv.Detect(tensors{}); err == nil {
		t.Error("a file of nothing was accepted")
	}
}

// FuzzDetect changes one name and one shape of a good model.
func FuzzDetect(f *testing.F) {
	f.Add("blocks.0.att.r_k", "blocks.0.att.r_k", 2, 64, 0)
	f.Add("emb.weight", "emb.weight", math.MaxInt, math.MaxInt, 1)
	f.Add("blocks.2.att.v1", "blocks.511.att.v1", -1, 0, 0)
	f.Add("blocks.0.att.time_decay", "blocks.0.att.time_decay", 64, 1, 2)
	f.Add("blocks.1.att.time_maa_w1", "blocks.1.att.time_maa_w1", 128, 5, 1)
	f.Add("blocks.0.att.gate.weight", "blocks.0.ffn.s_emb.weight", 300, 16, 3)
	f.Fuzz(func(t *testing.T, from, to string, rows, columns, version int) {
		shapes := append(others, small)
		m := modelOf(shapes[uint(version)%uint(len(shapes))])
		delete(m, from)
		m[to] = []int{rows, columns}
		shape, err := rwkv.Detect(m)
		if err == nil && (shape.StateLen() <= 0 || shape.Params() <= 0) {
			t.Errorf("%+v was accepted", shape)
		}
	})
}
