package infer

// gate puts the gates and the logits of a mix where a Blend can have them.
func (q *sequence) gate() (gates []float32, states [][]float32) {
	m := q.mix
	m.gates, m.states = m.gates[:0], append(m.states[:0], q.logits)
	sum := float64(m.weight)
	for _, v := range m.voices {
		sum += float64(v.Weight)
		m.states = append(m.states, v.logits)
	}
	m.gates = append(m.gates, float32(float64(m.weight)/sum))
	for _, v := range m.voices {
		m.gates = append(m.gates, float32(float64(v.Weight)/sum))
	}
	return m.gates, m.states
}

// combine makes the logits that the next token is drawn from.
func (q *sequence) combine() []float32 {
	if q.mix == nil {
		return q.logits
	}
	return q.mix.blend.Logits(q.gate())
}
