package rwkv

// v4 is RWKV-4 "Dove" (x040): the Pile, Raven and World models, as BlinkDL/RWKV-LM
// defines it in RWKV-v4neo. It has no heads: each channel is one of its own.
type v4 struct{}

func (v4) ranks() []string { return nil }

func (v4) recognises(s *survey) bool {
	return s.has("att.time_decay") && s.has("att.key.weight") && !s.has("att.ln_x.weight") && !s.hasPart(".att.time_maa_")
}

func (v4) complete(_ *survey, out *Shape) { out.Heads, out.HeadSize = out.Embed, 1 }

func (v4) sources(Shape) []source {
	return []source{
		{"emb.weight", DimEmbed, "channels", maxEmbed},
		{"emb.weight", DimVocab, "vocabulary entries", maxVocab},
		{"blocks.0.ffn.key.weight", DimFFN, "FFN channels", maxFFN},
	}
}

func (v4) modelTensors() []TensorSpec { return outerTensors }

func (v4) layerTensors() []TensorSpec { return v4Layer }

var v4Layer = []TensorSpec{
	{Name: "ln1.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln1.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln2.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln2.bias", Dims: []Dim{DimEmbed}},
	{Name: "att.time_decay", Dims: []Dim{DimEmbed}},
	{Name: "att.time_first", Dims: []Dim{DimEmbed}},
	{Name: "att.time_mix_k", Dims: []Dim{DimEmbed}},
	{Name: "att.time_mix_v", Dims: []Dim{DimEmbed}},
	{Name: "att.time_mix_r", Dims: []Dim{DimEmbed}},
	{Name: "att.key.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.output.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "ffn.time_mix_k", Dims: []Dim{DimEmbed}},
	{Name: "ffn.time_mix_r", Dims: []Dim{DimEmbed}},
	{Name: "ffn.key.weight", Kind: Matrix, Dims: []Dim{DimFFN, DimEmbed}},
	{Name: "ffn.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "ffn.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimFFN}},
}

// state: each channel has a sum of values and the sum of their weights, both divided
// by e^exponent. The sum of weights is at least 1 after the first token. While it is 0,
// nothing was read, and the exponent counts as -1e30, what the reference begins with.
func (v4) state(s Shape) []StatePart {
	return []StatePart{
		{PartAttShift, []int{s.Embed}},
		{PartFFNShift, []int{s.Embed}},
		{PartWKV, []int{s.Embed, 1, 1}},
		{PartWeights, []int{s.Embed}},
		{PartExponent, []int{s.Embed}},
	}
}

func (v4) released() map[string]Shape {
	of := func(layers, embed, vocab int) Shape {
		return Shape{Version: V4, Layers: layers, Embed: embed, Heads: embed, HeadSize: 1, FFN: 4 * embed, Vocab: vocab}
	}
	const pile, world = 50277, 65536
	return map[string]Shape{
		"0.1b": of(12, 768, world), "0.4b": of(24, 1024, world), "1.5b": of(24, 2048, world),
		"3b": of(32, 2560, world), "7b": of(32, 4096, world), "14b": of(40, 5120, pile),
	}
}
