package sampler

import (
	"math"
	"slices"
)

// A Candidate is a token the next draw could choose.
type Candidate struct {
	Token   int32
	LogProb float32 // natural logarithm under the model's own softmax
	Prob    float32 // what the draw gives it, after penalties, truncation and temperature
}

// A Sampler draws the tokens of one sequence. It is not safe for concurrent use.
type Sampler struct {
	// Exempt says which tokens ModePip counts no occurrences of; nil is none.
	// It is set once, before the first Observe; see PipExempt.
	Exempt func(token int32) bool
	// Breaks says which tokens no repetition goes over; nil is none. It is set
	// once, too; see BreaksRepetition.
	Breaks func(token int32) bool

	vocab     int
	params    Params // as they were given
	effective Params // as they are used
	needsHost bool
	allowed   []uint64 // see Restrict
	draws     uint64
	counts    counts       // of all tokens but those in later
	later     []occurrence // tokens observed since, see settle
	recent    []int32      // tokens of this answer, see Recall
	revision  Revision     // of counts, and of what params make of the next token
}

// maxVocab keeps the sum of all masses below 2^64.
const maxVocab = 1<<(64-massBits) - 1

// New makes a sampler. Ids from vocab up have no token and are never drawn.
// Parameters that Validate refuses make the draw greedy.
func New(vocab int, p Params) *Sampler {
	s := &Sampler{vocab: min(max(0, vocab), maxVocab), params: Params{Seed: p.Seed}}
	s.SetParams(p)
	return s
}

// Params are the current parameters.
func (s *Sampler) Params() Params { return s.params }

// SetParams changes the parameters from the next draw on. The random stream
// goes on where it is; a changed Seed is ignored.
func (s *Sampler) SetParams(p Params) {
	p.Seed = s.params.Seed
	p.Ban, p.Bias = slices.Clone(p.Ban), slices.Clone(p.Bias)
	s.params, s.effective = p, p.effective()
	s.needsHost = slices.ContainsFunc(Fields, func(f *Field) bool { return f.HostOnly && !f.IsOff(s.effective) })
	s.revision = s.revision.Then(none)
}

// Restrict lets only tokens be drawn that have a bit in allowed, the lowest of
// the first word for token 0; it has Vocab bits or more. nil lifts the
// restriction. The sampler keeps the slice and does not change it. A restricted
// draw is the host's. It takes place between steps 1 and 2 of the definition:
// other tokens have no logit.
func (s *Sampler) Restrict(allowed []uint64) { s.allowed = allowed }

// Sample draws a token from raw logits, which it does not change, and returns
// its log-probability under the model's own softmax (of ids below vocab). It
// takes one number from the random stream, also when greedy.
func (s *Sampler) Sample(logits []float32) (token int32, logProb float32) {
	logits = s.known(logits)
	w := borrow()
	defer w.giveBack()
	d := s.prepare(w, logits)
	r := Random(s.params.Seed, s.draws)
	s.draws++
	if d.total == 0 {
		return 0, negInf
	}
	token = d.draw(r)
	return token, float32(float64(tame(logits[token])) - d.logNormaliser(logits))
}

// Top returns the k likeliest tokens under the model's own softmax, with the
// probability that the next draw gives them. Of equally likely ones the
// smaller id comes first.
func (s *Sampler) Top(logits []float32, k int) []Candidate {
	logits = s.known(logits)
	if k = min(k, len(logits)); k <= 0 {
		return nil
	}
	w, raw := borrow(), borrow()
	defer w.giveBack()
	defer raw.giveBack()
	d := s.prepare(w, logits)
	norm := d.logNormaliser(logits)
	best := raw.likeliest(logits, k)
	top := make([]Candidate, len(best))
	for i, c := range best {
		top[i] = Candidate{Token: c.id, LogProb: float32(float64(tame(logits[c.id])) - norm)}
		if d.total > 0 {
			top[i].Prob = float32(float64(d.massOf(c.id)) / float64(d.total))
		}
	}
	return top
}

// known are the logits of ids that have a token.
func (s *Sampler) known(logits []float32) []float32 {
	return logits[:min(len(logits), s.vocab)]
}

// likeliest are the k candidates with the largest logits, in order. Tokens
// with none (-Inf, NaN) are left out.
func (w *scratch) likeliest(logits []float32, k int) []candidate {
	w.load(logits)
	m := w.findBest()
	w.collect(max(w.atLeast(k), -math.MaxFloat32), m)
	slices.SortFunc(w.candidates, func(a, b candidate) int {
		if a.key != b.key {
			if a.key > b.key {
				return -1
			}
			return 1
		}
		return int(a.id - b.id)
	})
	return w.candidates[:min(k, len(w.candidates))]
}
