package rwkv

// v6 is RWKV-6 "Finch" (x060), as BlinkDL/RWKV-LM defines it in RWKV-v5.
type v6 struct{}

// The ranks of the low-rank branches: the five token-shift mixes, which share
// one first matrix, and the decay.
const (
	dimMix   = DimRank + iota // M
	dimDecay                  // D
)

func (v6) ranks() []string { return []string{"mix", "w"} }

func (v6) recognises(s *survey) bool { return s.hasPart(".att.time_maa_") }

func (v6) complete(s *survey, out *Shape) {
	s.heads("att.time_faaaa", out)
	out.Ranks = Ranks{s.rank(0, "att.time_maa_w1") / mixes, s.rank(0, "att.time_decay_w1")}
}

func (v6) sources(Shape) []source {
	return []source{
		{"emb.weight", DimEmbed, "channels", maxEmbed},
		{"emb.weight", DimVocab, "vocabulary entries", maxVocab},
		{"blocks.0.att.time_faaaa", DimHeadSize, "channels a head", maxHeadSize},
		{"blocks.0.ffn.key.weight", DimFFN, "FFN channels", maxFFN},
		{"blocks.0.att.time_maa_w1", dimMix, "ranks", maxEmbed},
		{"blocks.0.att.time_decay_w1", dimDecay, "ranks", maxEmbed},
	}
}

func (v6) modelTensors() []TensorSpec { return outerTensors }

func (v6) layerTensors() []TensorSpec { return v6Layer }

var v6Layer = []TensorSpec{
	{Name: "ln1.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln1.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln2.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln2.bias", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_x", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_w", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_k", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_v", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_r", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_g", Dims: []Dim{DimEmbed}},
	{Name: "att.time_maa_w1", Kind: LowRank, Dims: []Dim{DimEmbed, DimMixRanks}},
	{Name: "att.time_maa_w2", Kind: LowRanks, Dims: []Dim{DimMixes, dimMix, DimEmbed}}, // of w, k, v, r, g
	{Name: "att.time_decay", Dims: []Dim{DimEmbed}},
	{Name: "att.time_decay_w1", Kind: LowRank, Dims: []Dim{DimEmbed, dimDecay}},
	{Name: "att.time_decay_w2", Kind: LowRank, Dims: []Dim{dimDecay, DimEmbed}},
	{Name: "att.time_faaaa", Dims: []Dim{DimHeads, DimHeadSize}},
	{Name: "att.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.key.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.output.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.gate.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.ln_x.weight", Dims: []Dim{DimEmbed}},
	{Name: "att.ln_x.bias", Dims: []Dim{DimEmbed}},
	{Name: "ffn.time_maa_k", Dims: []Dim{DimEmbed}},
	{Name: "ffn.time_maa_r", Dims: []Dim{DimEmbed}},
	{Name: "ffn.key.weight", Kind: Matrix, Dims: []Dim{DimFFN, DimEmbed}},
	{Name: "ffn.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "ffn.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimFFN}},
}

func (v6) state(s Shape) []StatePart { return headState(s) }

func (v6) released() map[string]Shape {
	of := func(layers, embed, rank, vocab int) Shape {
		return Shape{
			Version: V6, Layers: layers, Embed: embed, Heads: embed / 64, HeadSize: 64,
			FFN: embed * 7 / 2 / 32 * 32, Vocab: vocab, Ranks: Ranks{rank, 2 * rank},
		}
	}
	return map[string]Shape{
		"0.1b": of(12, 768, 32, 50304), // Pile
		"1.6b": of(24, 2048, 32, 65536),
		"3b":   of(32, 2560, 32, 65536),
		"7b":   of(32, 4096, 64, 65536),
		"14b":  of(61, 4096, 64, 65536),
	}
}
