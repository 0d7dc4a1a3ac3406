package rwkv

// v7 is RWKV-7 "Goose" (x070), as BlinkDL/RWKV-LM defines it in RWKV-v7.
type v7 struct{}

// The ranks of the low-rank branches: decay, in-context learning rate, value
// residual and gate.
const (
	dimW = DimRank + iota
	dimA
	dimV
	dimG
)

func (v7) ranks() []string { return []string{"w", "a", "v", "g"} }

func (v7) recognises(s *survey) bool {
	return (s.has("att.r_k") || s.has("att.w0")) && !s.hasPart(".ffn.s_emb")
}

func (v7) complete(s *survey, out *Shape) {
	s.heads("att.r_k", out)
	// Layer 0 has no use for a value residual.
	out.Ranks = Ranks{s.rank(0, "att.w1"), s.rank(0, "att.a1"), s.rank(1, "att.v1"), s.rank(0, "att.g1")}
}

func (v7) sources(s Shape) []source {
	out := []source{
		{"emb.weight", DimEmbed, "channels", maxEmbed},
		{"emb.weight", DimVocab, "vocabulary entries", maxVocab},
		{"blocks.0.att.r_k", DimHeadSize, "channels a head", maxHeadSize},
		{"blocks.0.ffn.key.weight", DimFFN, "FFN channels", maxFFN},
		{"blocks.0.att.w1", dimW, "ranks", maxEmbed},
		{"blocks.0.att.a1", dimA, "ranks", maxEmbed},
		{"blocks.0.att.g1", dimG, "ranks", maxEmbed},
	}
	if s.Layers > 1 {
		out = append(out, source{"blocks.1.att.v1", dimV, "ranks", maxEmbed})
	}
	return out
}

func (v7) modelTensors() []TensorSpec { return outerTensors }

func (v7) layerTensors() []TensorSpec { return v7Layer }

var v7Layer = []TensorSpec{
	{Name: "ln1.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln1.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln2.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln2.bias", Dims: []Dim{DimEmbed}},
	{Name: "att.x_r", Dims: []Dim{DimEmbed}},
	{Name: "att.x_w", Dims: []Dim{DimEmbed}},
	{Name: "att.x_k", Dims: []Dim{DimEmbed}},
	{Name: "att.x_v", Dims: []Dim{DimEmbed}},
	{Name: "att.x_a", Dims: []Dim{DimEmbed}},
	{Name: "att.x_g", Dims: []Dim{DimEmbed}},
	{Name: "att.w0", Dims: []Dim{DimEmbed}},
	{Name: "att.w1", Kind: LowRank, Dims: []Dim{DimEmbed, dimW}},
	{Name: "att.w2", Kind: LowRank, Dims: []Dim{dimW, DimEmbed}},
	{Name: "att.a0", Dims: []Dim{DimEmbed}},
	{Name: "att.a1", Kind: LowRank, Dims: []Dim{DimEmbed, dimA}},
	{Name: "att.a2", Kind: LowRank, Dims: []Dim{dimA, DimEmbed}},
	{Name: "att.v0", Dims: []Dim{DimEmbed}, NotFirst: true},
	{Name: "att.v1", Kind: LowRank, Dims: []Dim{DimEmbed, dimV}, NotFirst: true},
	{Name: "att.v2", Kind: LowRank, Dims: []Dim{dimV, DimEmbed}, NotFirst: true},
	{Name: "att.g1", Kind: LowRank, Dims: []Dim{DimEmbed, dimG}},
	{Name: "att.g2", Kind: LowRank, Dims: []Dim{dimG, DimEmbed}},
	{Name: "att.k_k", Dims: []Dim{DimEmbed}},
	{Name: "att.k_a", Dims: []Dim{DimEmbed}},
	{Name: "att.r_k", Dims: []Dim{DimHeads, DimHeadSize}},
	{Name: "att.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.key.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.output.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.ln_x.weight", Dims: []Dim{DimEmbed}},
	{Name: "att.ln_x.bias", Dims: []Dim{DimEmbed}},
	{Name: "ffn.x_k", Dims: []Dim{DimEmbed}},
	{Name: "ffn.key.weight", Kind: Matrix, Dims: []Dim{DimFFN, DimEmbed}},
	{Name: "ffn.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimFFN}},
}

func (v7) state(s Shape) []StatePart { return headState(s) }

func (v7) released() map[string]Shape {
	of := func(layers, embed int, ranks Ranks) Shape {
		return Shape{
			Version: V7, Layers: layers, Embed: embed, Heads: embed / 64, HeadSize: 64,
			FFN: 4 * embed, Vocab: 65536, Ranks: ranks,
		}
	}
	return map[string]Shape{
		"0.1b": of(12, 768, Ranks{64, 64, 32, 128}),
		"0.4b": of(24, 1024, Ranks{64, 64, 32, 128}),
		"1.5b": of(24, 2048, Ranks{96, 96, 64, 256}),
		"2.9b": of(32, 2560, Ranks{96, 96, 64, 320}),
		"7.2b": of(32, 4096, Ranks{128, 128, 96, 480}),
	}
}
