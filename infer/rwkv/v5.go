package rwkv

// v5 is RWKV-5 "Eagle" in its three forms, as BlinkDL/RWKV-LM defines them in
// RWKV-v5: x052 has a decay for each channel, x051 one for each head, and x050 no
// gate.
type v5 struct{ version Version }

func (v5) ranks() []string { return nil }

func (v v5) recognises(s *survey) bool {
	if !s.has("att.time_decay") || !s.has("att.ln_x.weight") || s.hasPart(".att.time_maa_") {
		return false
	}
	is := V50
	if s.has("att.gate.weight") {
		is = V51
		if d := s.dims("att.time_decay"); len(d) == 2 && d[1] > 1 || len(d) == 1 && d[0] == s.embed() {
			is = V52 // the second is a single head, its leading 1 removed
		}
	}
	return is == v.version
}

func (v v5) complete(s *survey, out *Shape) {
	if v.version == V52 {
		s.heads("att.time_decay", out)
	} else if d := s.dims("att.time_decay"); len(d) > 0 && d[0] > 0 {
		out.Heads, out.HeadSize = d[0], out.Embed/d[0]
	}
}

func (v5) sources(Shape) []source {
	return []source{
		{"emb.weight", DimEmbed, "channels", maxEmbed},
		{"emb.weight", DimVocab, "vocabulary entries", maxVocab},
		{"blocks.0.att.time_decay", DimHeadSize, "channels a head", maxHeadSize},
		{"blocks.0.ffn.key.weight", DimFFN, "FFN channels", maxFFN},
	}
}

func (v5) modelTensors() []TensorSpec { return outerTensors }

func (v v5) layerTensors() []TensorSpec {
	switch v.version {
	case V50:
		return v50Layer
	case V51:
		return v51Layer
	}
	return v52Layer
}

var (
	v50Layer = v5Layer(false, DimHeads)
	v51Layer = v5Layer(true, DimHeads)
	v52Layer = v5Layer(true, DimHeads, DimHeadSize)
)

// v5Layer are a layer's tensors. each are the dimensions of decay and bonus.
func v5Layer(gated bool, each ...Dim) []TensorSpec {
	out := []TensorSpec{
		{Name: "ln1.weight", Dims: []Dim{DimEmbed}},
		{Name: "ln1.bias", Dims: []Dim{DimEmbed}},
		{Name: "ln2.weight", Dims: []Dim{DimEmbed}},
		{Name: "ln2.bias", Dims: []Dim{DimEmbed}},
		{Name: "att.time_mix_k", Dims: []Dim{DimEmbed}},
		{Name: "att.time_mix_v", Dims: []Dim{DimEmbed}},
		{Name: "att.time_mix_r", Dims: []Dim{DimEmbed}},
		{Name: "att.time_decay", Dims: each},
		{Name: "att.time_faaaa", Dims: each, Log: "att.time_first"},
		{Name: "att.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
		{Name: "att.key.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
		{Name: "att.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
		{Name: "att.output.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
		{Name: "att.ln_x.weight", Dims: []Dim{DimEmbed}},
		{Name: "att.ln_x.bias", Dims: []Dim{DimEmbed}},
		{Name: "ffn.time_mix_k", Dims: []Dim{DimEmbed}},
		{Name: "ffn.time_mix_r", Dims: []Dim{DimEmbed}},
		{Name: "ffn.key.weight", Kind: Matrix, Dims: []Dim{DimFFN, DimEmbed}},
		{Name: "ffn.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
		{Name: "ffn.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimFFN}},
	}
	if gated {
		out = append(out,
			TensorSpec{Name: "att.time_mix_g", Dims: []Dim{DimEmbed}},
			TensorSpec{Name: "att.gate.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}})
	}
	return out
}

func (v5) state(s Shape) []StatePart { return headState(s) }

func (v v5) released() map[string]Shape {
	if v.version != V52 {
		return nil
	}
	of := func(layers, embed int) Shape {
		return Shape{
			Version: V52, Layers: layers, Embed: embed, Heads: embed / 64, HeadSize: 64,
			FFN: embed * 7 / 2 / 32 * 32, Vocab: 65536,
		}
	}
	return map[string]Shape{"0.1b": of(12, 768), "0.4b": of(24, 1024), "1.5b": of(24, 2048), "3b": of(32, 2560), "7b": of(32, 4096)}
}
