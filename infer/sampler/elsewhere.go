package sampler

// What follows lets another device draw in a Sampler's place: it asks with
// which parameters and which number of the random stream, draws by the same
// definition, and then takes that number with Skip(1). It keeps counts of its
// own, and compares revisions to know that they are still the Sampler's.

// Vocab is New's: ids from there up are never drawn.
func (s *Sampler) Vocab() int { return s.vocab }

// Draws is which number of the random stream the next draw takes.
func (s *Sampler) Draws() uint64 { return s.draws }

// Effective are the parameters as the next draw uses them. They are valid,
// whatever was given, and mean the same when they are given again. The bans
// are in ascending order; they belong to the Sampler.
func (s *Sampler) Effective() Params { return s.effective }

// NeedsHost says whether the draw is the host's alone, by a parameter that is not
// off or a restriction.
func (s *Sampler) NeedsHost() bool { return s.needsHost || s.allowed != nil }

// Weight is what Observe counts an occurrence of a token as.
func (s *Sampler) Weight(token int32) float32 {
	if s.params.Mode == ModePip && s.Exempt != nil && s.Exempt(token) {
		return 0
	}
	return 1
}

// A Revision stands for what a Sampler remembers of tokens and how it will go
// on counting them. Equal revisions of one Sampler have the same counts.
type Revision struct {
	changes uint64
	last    int32 // the token observed last; none if something else changed since
}

const none = -1

// Revision is the current one.
func (s *Sampler) Revision() Revision { return s.revision }

// Then is the revision after Observe of a token below Vocab.
func (r Revision) Then(token int32) Revision { return Revision{r.changes + 1, token} }
