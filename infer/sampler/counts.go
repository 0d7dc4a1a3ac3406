package sampler

import (
	"cmp"
	"slices"
	"strings"
)

// Memory is the part of a Sampler that a snapshot keeps.
type Memory struct {
	Draws  uint64 // numbers taken from the random stream
	Counts []Count
}

// A Count is how often a token occurred, after decay. Both numbers decay alike.
type Count struct {
	Token int32
	N     float32 // all occurrences
	First float32 // the part of N that the first occurrence is; ModeRapid charges presence on it
}

// counts are the tokens seen, in ascending order. A token stays, however
// little its decayed count: ModeRWKV charges presence on every token seen.
type counts struct {
	tokens  []int32
	weights []float32 // of each token Count.N and then Count.First
}

func (c *counts) find(token int32) (int, bool) { return slices.BinarySearch(c.tokens, token) }

// at is the count of token number i of those seen.
func (c *counts) at(i int) Count {
	return Count{Token: c.tokens[i], N: c.weights[2*i], First: c.weights[2*i+1]}
}

// An occurrence is a token that was drawn, with what counting it needs.
type occurrence struct {
	token         int32
	decay, weight float32
}

// observe lets all counts decay and then counts an occurrence of token, of
// weight 1 or 0.
func (c *counts) observe(token int32, decay, weight float32) {
	decayAll(c.weights, decay)
	i, found := c.find(token)
	if found {
		c.weights[2*i] += weight
		return
	}
	c.tokens = slices.Insert(c.tokens, i, token)
	c.weights = slices.Insert(c.weights, 2*i, weight, weight)
}

// list is the counts one by one; it is nil if there are none.
func (c *counts) list() []Count {
	if len(c.tokens) == 0 {
		return nil
	}
	out := make([]Count, len(c.tokens))
	for i := range out {
		out[i] = c.at(i)
	}
	return out
}

// penalty is what a seen token's logit is lowered by.
func (e Count) penalty(p Params) float32 {
	if p.Mode == ModeRapid {
		return float32(p.Presence*e.First) + float32(p.Frequency*float32(e.N-e.First))
	}
	return p.Presence + float32(p.Frequency*e.N)
}

// Observe counts a drawn token for the penalties.
func (s *Sampler) Observe(token int32) {
	if token < 0 || int(token) >= s.vocab {
		return
	}
	s.Recall(token)
	s.later = append(s.later, occurrence{token, s.effective.Decay, s.Weight(token)})
	s.revision = s.revision.Then(token)
	if len(s.later) >= s.most() {
		s.settle()
	}
}

// Settle counts what waits to be counted, if that is much: for a time when there is
// nothing else to do, as while a device steps. It changes no result.
func (s *Sampler) Settle() {
	if len(s.later) >= s.most()/2 {
		s.settle()
	}
}

// most is how many occurrences wait at most.
func (s *Sampler) most() int { return mostLater + int(s.params.Seed%mostLater) }

// mostLater is about how many occurrences wait to be counted. While a device
// draws in the Sampler's place nobody looks at the counts, and they come from
// memory once for all that wait. The seed makes it differ, so that conversations
// that began together do not all count in the same step.
const mostLater = 64

// settle counts the occurrences that wait.
func (s *Sampler) settle() {
	for _, o := range s.later {
		s.counts.observe(o.token, o.decay, o.weight)
	}
	s.later = s.later[:0]
}

// Skip moves the random stream past n draws (a replayed answer).
func (s *Sampler) Skip(n int) {
	if n > 0 {
		s.draws += uint64(n)
	}
}

// Memory is what a snapshot keeps; Restore is its inverse.
func (s *Sampler) Memory() Memory {
	s.settle()
	return Memory{Draws: s.draws, Counts: s.counts.list()}
}

// Restore continues as the sampler whose Memory this is. Counts that no
// sampler makes (of tokens out of range, not finite, or a second one of a
// token) are left out.
func (s *Sampler) Restore(m Memory) {
	s.draws = m.Draws
	s.revision = s.revision.Then(none)
	list := slices.DeleteFunc(slices.Clone(m.Counts), func(e Count) bool {
		return e.Token < 0 || int(e.Token) >= s.vocab || !finite(e.N) || !finite(e.First)
	})
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(a.Token, b.Token) })
	s.counts, s.later = counts{}, nil
	for _, e := range slices.CompactFunc(list, func(a, b Count) bool { return a.Token == b.Token }) {
		s.counts.tokens = append(s.counts.tokens, e.Token)
		s.counts.weights = append(s.counts.weights, e.N, e.First)
	}
}

// PipExempt says whether the rwkv package exempts a token with these bytes
// from the frequency penalty: those that are a piece of " \t0123456789".
func PipExempt(text []byte) bool {
	return len(text) > 0 && strings.Contains(" \t0123456789", string(text))
}
