package infer

import (
	"slices"

	"rookery/infer/sampler"
)

// An Distribution is what a token was drawn from. Nothing in it changes any more.
type Distribution struct {
	Logits  []float32      // of the whole vocabulary; of a mix, the combined ones
	Sampler sampler.Memory // before the draw
	Token   int32          // the one drawn
}

// Look asks for the Outlook of the next token. It costs the engine a copy of
// the logits, once for each time it is asked; on a GPU they are read for it.
func (s *Stream) Look() { s.looking.Store(true) }

// Distribution is the last that Look has brought, or nil.
func (s *Stream) Distribution() *Distribution { return s.outlook.Load() }

// publishDistribution is called between a draw and the sampler's seeing the token.
// Logits that cannot be read are not given: that is no reason to end a request
// which does not need them, and the next step will say what is wrong.
func (e *Engine) publishDistribution(q *sequence, token int32) {
	if !q.stream.looking.Swap(false) || e.fetchLogits(q) != nil {
		return
	}
	q.stream.outlook.Store(&Distribution{Logits: slices.Clone(q.combine()), Sampler: q.sampler.Memory(), Token: token})
}

// Distribution is what the next token after a snapshot with logits is drawn from;
// Token is -1.
func (s *Snapshot) Distribution() *Distribution {
	q := sequence{logits: s.Logits}
	if len(s.Members) > 0 {
		q.mix = &mix{weight: s.Weight}
		for _, v := range s.Members {
			q.mix.voices = append(q.mix.voices, member{Member: v, logits: v.Logits})
		}
	}
	return &Distribution{Logits: q.combine(), Sampler: s.Sampler, Token: -1}
}
