package infer

import (
	"slices"

	"rookery/infer/sampler"
)

// A Distribution is what a token was drawn from. It is immutable.
type Distribution struct {
	Logits  []float32      // one for each row of the vocabulary; of a mix, the combined ones
	Sampler sampler.Memory // before the draw
	Token   int32          // the one that was drawn
}

// Look asks for the Distribution of the next token. Each call costs the engine one
// copy of the logits, on a GPU from the device.
func (s *Stream) Look() { s.wantsDistribution.Store(true) }

// Distribution is the last one that Look has brought, or nil.
func (s *Stream) Distribution() *Distribution { return s.distribution.Load() }

// publishDistribution is called after a draw and before the sampler observes the
// token. If the logits cannot be read, it publishes nothing and the request goes
// on without them: the next step reports a failing device.
func (e *Engine) publishDistribution(q *sequence, token int32) {
	if !q.stream.wantsDistribution.Swap(false) || e.fetchLogits(q) != nil {
		return
	}
	q.stream.distribution.Store(&Distribution{Logits: slices.Clone(q.combineLogits()), Sampler: q.sampler.Memory(), Token: token})
}

// Distribution is what the next token after a snapshot with logits is drawn from.
// Its Token is -1.
func (s *Snapshot) Distribution() *Distribution {
	q := sequence{logits: s.Logits}
	if len(s.Members) > 0 {
		q.mix = &mix{weight: s.Weight}
		for _, v := range s.Members {
			q.mix.members = append(q.mix.members, member{Member: v, logits: v.Logits})
		}
	}
	return &Distribution{Logits: q.combineLogits(), Sampler: s.Sampler, Token: -1}
}
