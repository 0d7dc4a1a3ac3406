package rwkv

// v7a is RWKV-7 with DeepEmbed, as BlinkDL/RWKV-LM defines it in RWKV-v7: in every
// layer a table gives each token a matrix that scales the channel mix.
type v7a struct{ v7 }

// dimS is the rank of DeepEmbed's branch.
const dimS = dimG + 1

func (v v7a) ranks() []string { return append(v.v7.ranks(), "s") }

func (v7a) recognises(s *survey) bool { return s.has("att.r_k") && s.hasPart(".ffn.s_emb") }

func (v v7a) complete(s *survey, out *Shape) {
	v.v7.complete(s, out)
	out.Ranks[4] = s.rank(0, "ffn.s1")
}

func (v v7a) sources(s Shape) []source {
	return append(v.v7.sources(s), source{"blocks.0.ffn.s1", dimS, "ranks", maxHeadSize})
}

func (v7a) layerTensors() []TensorSpec { return v7aLayer }

var v7aLayer = append(v7Layer[:len(v7Layer):len(v7Layer)],
	TensorSpec{Name: "ffn.s_emb.weight", Kind: Table, Dims: []Dim{DimVocab, DimDeep}},
	TensorSpec{Name: "ffn.s_emb_x.weight", Kind: Matrix, Dims: []Dim{DimDeep, DimEmbed}, Fixed: true},
	TensorSpec{Name: "ffn.s1", Kind: LowRank, Dims: []Dim{DimEmbed, dimS}},
	TensorSpec{Name: "ffn.s2", Kind: LowRank, Dims: []Dim{dimS, DimFFN}},
	TensorSpec{Name: "ffn.s0", Dims: []Dim{DimFFN}},
)

func (v v7a) released() map[string]Shape {
	s := v.v7.released()["0.1b"]
	s.Version, s.Ranks[4] = V7A, 32
	return map[string]Shape{"0.1b": s}
}
