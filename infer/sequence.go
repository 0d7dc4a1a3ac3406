package infer

import (
	"time"

	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// A phase is what a sequence does with its row.
type phase uint8

const (
	phaseWaiting   phase = iota // for a slot
	phaseReading                // Pending, Tokens and Replay, in chunks
	phaseDecoding               // one token a step
	phaseScoring                // one given token a step
	phaseRewinding              // reading again up to where a stop began, then ending
	phaseSaving                 // without a row: its last state is being read
	phaseEnded
)

// maxPending is how many drawn tokens a snapshot leaves unread rather than
// reading them again at the end of an answer. Tokens that a snapshot leaves
// are read one a step, as they would have been: a backend may round chunks
// differently.
const maxPending = 16

// A sequence is the engine goroutine's side of a request: a row while it has a
// slot. Only that goroutine touches it.
type sequence struct {
	stream  *Stream
	req     Request
	input   []int32 // From.Pending, Tokens and Replay; req.Replay is its end
	tail    []byte  // incomplete character before input, if an answer is continued
	answer  answer
	sampler *sampler.Sampler
	draws   uint64 // place in the random stream before the first drawn token

	again []Span // in phaseRewinding, how what is left was read, if by several adapters

	phase    phase
	slot     Slot
	adapter  AdapterID
	placed   bool      // it has a slot
	position int       // tokens that the slot's state has consumed since the base state
	begun    []Span    // From.Spans
	read     spans     // what the slot's state has consumed since, by adapter
	reads    string    // the adapter that it consumes with, as the stream says
	consumed int       // of those, tokens of answer.ids
	unread   []int32   // what is left to read in phaseReading and phaseRewinding
	prompt   int       // how many of unread come before the prompt snapshot
	start    *Snapshot // the prompt snapshot, once there is one
	starting *readout  // its state on its way, or nil
	toPrompt bool      // the ending's snapshot is the prompt's too
	singly   int       // how many of unread are to be read one a step
	logits   []float32 // after the last consumed token, see logitsRow
	one      [1]int32  // the row's token while decoding
	// logitsRow is the row of the last step whose logits are those that
	// q.logits should have, or logitsHere or logitsGone.
	logitsRow  int
	lateLogits bool // steps are not asked for the logits of drawn tokens: the backend keeps them
	mark       mark
	mix        *mix // nil: one state
	scores     []float32
	settled    Ending // in phaseRewinding: the ending, whose snapshot lacks state and logits

	usage     Usage
	submitted time.Time
	promptEnd time.Time
	rate      meter
}

func newSequence(m *Model, r Request, wake func()) *sequence {
	r.mixed(m)
	r.Logits = r.Logits || len(r.Score) > 0
	q := &sequence{req: r, submitted: time.Now(), logitsRow: logitsHere}
	if r.From != nil {
		q.input = append(q.input, r.From.Pending...)
		q.position, q.begun = r.From.Position, r.From.Spans
		q.draws = r.From.Sampler.Draws
	}
	if r.From != nil && len(r.Tokens) == 0 {
		q.tail = r.From.Tail
		if len(q.input) <= maxPending {
			q.singly = len(q.input)
		}
	}
	q.input = append(q.input, r.Tokens...)
	q.prompt = len(q.input)
	q.input = append(q.input, r.Replay...)
	q.req.Tokens, q.req.Replay = nil, q.input[q.prompt:]
	q.unread = q.input
	q.draws += uint64(len(r.Replay))
	q.sampler = newSampler(m, r)
	q.answer = newAnswer(m, r)
	q.stream = newStream(r.Label, len(q.input), wake)
	q.reads, q.stream.reads = r.Adapter, r.Adapter
	return q
}

// newSampler goes on from the snapshot and past the replayed tokens.
func newSampler(m *Model, r Request) *sampler.Sampler {
	s := bareSampler(m.Tokenizer, m.Shape.Vocab, r.Sampling)
	if r.From != nil {
		s.Restore(r.From.Sampler)
	}
	for _, id := range r.Replay {
		s.Observe(id)
	}
	s.Skip(len(r.Replay))
	return s
}

// bareSampler is a sampler at the beginning of its stream.
func bareSampler(t *tokenizer.Tokenizer, vocab int, p sampler.Params) *sampler.Sampler {
	s := sampler.New(min(t.Size(), vocab), p)
	s.Exempt = func(id int32) bool { return sampler.PipExempt(t.Bytes(id)) }
	return s
}

// newAnswer goes on from the snapshot's text, unless tokens of a prompt come
// between, and past the replayed tokens.
func newAnswer(m *Model, r Request) answer {
	a := answer{vocabulary: m.Tokenizer, stops: newStopper(r.Stops)}
	if r.From != nil && len(r.Tokens) == 0 {
		a.text.Restore(r.From.Tail)
		a.prime(r.From.Pending)
	}
	a.prime(r.Replay)
	for _, id := range r.Replay {
		a.text.Push(m.Tokenizer.Bytes(id))
	}
	return a
}

// next is the most tokens that q can read in its next row: a row ends where the
// prompt snapshot is due, and tokens to be read singly are rows of their own.
func (q *sequence) next() int {
	switch {
	case q.singly > 0:
		return 1
	case q.phase == phaseRewinding && len(q.again) > 1:
		return min(q.again[0].Tokens, len(q.unread))
	case q.prompt > 0:
		return q.prompt
	}
	return len(q.unread)
}

// row is q's entry in a step that reads n tokens of unread, or decodes if n is 0.
func (q *sequence) row(n int) Row {
	if q.phase == phaseDecoding {
		q.one[0] = q.answer.ids[q.consumed]
		r := Row{Slot: q.slot, Adapter: q.adapter, Tokens: q.one[:], Sampler: q.sampler, Top: q.req.Top, Logits: q.logits}
		if q.lateLogits {
			r.Logits = nil
		}
		if q.drawsItself() {
			r.Sampler = nil
		}
		return r
	}
	if q.phase == phaseScoring {
		return q.scoringRow()
	}
	r := Row{Slot: q.slot, Adapter: q.adapter, Tokens: q.unread[:n]}
	if n == q.prompt || n == len(q.unread) { // n is never 0 here
		r.Logits = q.logits
	}
	if n == len(q.unread) && q.phase == phaseReading && !q.req.Logits && !q.drawsItself() {
		r.Sampler, r.Top = q.sampler, q.req.Top
	}
	return r
}

// memory is the sampler's memory after count drawn tokens. The place in the
// random stream is counted here and not asked for, so that it is right also
// after a draw that is to be forgotten or that failed halfway.
func (q *sequence) memory(count int) sampler.Memory {
	m := q.sampler.Memory()
	m.Draws = q.draws + uint64(count)
	return m
}

// progress is what the stream reports; now is the end of a step.
func (q *sequence) progress(now time.Time) Progress {
	return Progress{
		Read:      q.usage.Read,
		ToRead:    len(q.input) + max(len(q.req.Score)-1, 0),
		Generated: q.usage.Generated,
		Rate:      q.rate.rate(now),
	}
}
