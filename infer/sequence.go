package infer

import (
	"time"

	"rookery/infer/grammar"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// A phase is what a sequence does in a step.
type phase uint8

const (
	phaseWaiting   phase = iota // for a slot
	phaseReading                // From.Pending, Tokens and Replay, in chunks
	phaseDecoding               // one token a step
	phaseScoring                // one given token a step
	phaseRewinding              // reads again up to the beginning of a stop, then ends
	phaseSaving                 // has no row; its last state is being read back
	phaseEnded
)

// maxPending is how many drawn tokens an ending leaves pending in its snapshot
// rather than reading them again. The next request reads pending tokens one a
// step, as they would have been read while decoding: a backend may round chunks
// differently.
const maxPending = 16

// A sequence is the engine goroutine's side of a request. It has a row in every
// step while it has a slot. Only the engine goroutine uses it.
type sequence struct {
	stream  *Stream
	req     Request
	input   []int32 // From.Pending, Tokens and Replay; req.Replay is its last part
	tail    []byte  // of the answer that is continued: bytes of an incomplete character
	answer  answer
	sampler *sampler.Sampler
	matcher *grammar.Matcher // nil without a grammar
	draws   uint64           // place in the random stream before the first drawn token

	rereadSpans []Span // in phaseRewinding: how unread was read the first time, if by several adapters

	phase          phase
	slot           Slot
	adapter        AdapterID
	hasSlot        bool      // it has a slot
	position       int       // tokens that the slot's state has consumed since the base state
	baseSpans      []Span    // From.Spans
	readSpans      spans     // what the slot's state has consumed since From
	streamAdapter  string    // the adapter that Stream.Spans reports
	consumed       int       // how many tokens of answer.ids the state has consumed
	unread         []int32   // what is left to read in phaseReading and phaseRewinding
	promptLeft     int       // how many of unread come before the prompt's snapshot
	promptSnapshot *Snapshot // once there is one
	promptReadback *readback // of the prompt's snapshot, while it is under way
	endsPrompt     bool      // the ending's snapshot is the prompt's too
	singleSteps    int       // how many of unread to read one a step
	logits         []float32 // after the last consumed token, see logitsRow
	oneToken       [1]int32  // the row's token while decoding or scoring
	// logitsRow is the row of the last step whose logits belong into q.logits, or
	// logitsHere or logitsGone.
	logitsRow      int
	logitsOnDevice bool // steps do not return the logits of drawn tokens; the backend keeps them
	checkpoint     checkpoint
	mix            *mix // nil if there is one state
	scores         []float32
	ending         Ending // in phaseRewinding: its snapshot has no state and logits yet

	usage     Usage
	submitted time.Time
	promptEnd time.Time
	rate      meter
}

func newSequence(m *Model, r Request, wake func()) *sequence {
	r.mergeMix(m)
	r.Logits = r.Logits || len(r.Score) > 0
	if r.Grammar != nil {
		r.Stops = nil
	}
	q := &sequence{req: r, submitted: time.Now(), logitsRow: logitsHere}
	if r.From != nil {
		q.input = append(q.input, r.From.Pending...)
		q.position, q.baseSpans = r.From.Position, r.From.Spans
		q.draws = r.From.Sampler.Draws
	}
	if r.From != nil && len(r.Tokens) == 0 {
		q.tail = r.From.Tail
		if len(q.input) <= maxPending {
			q.singleSteps = len(q.input)
		}
	}
	q.input = append(q.input, r.Tokens...)
	q.promptLeft = len(q.input)
	q.input = append(q.input, r.Replay...)
	q.req.Tokens, q.req.Replay = nil, q.input[q.promptLeft:]
	q.unread = q.input
	q.draws += uint64(len(r.Replay))
	q.sampler = newSampler(m, r)
	q.answer = newAnswer(m, r)
	q.stream = newStream(r.Label, len(q.input), wake)
	q.streamAdapter, q.stream.adapterNow = r.Adapter, r.Adapter
	return q
}

// newSampler continues the random stream and the penalties of the snapshot, past
// the replayed tokens.
func newSampler(m *Model, r Request) *sampler.Sampler {
	s := bareSampler(m.Tokenizer, m.Shape.Vocab, r.Sampling)
	if r.From != nil {
		s.Restore(r.From.Sampler)
	}
	for _, id := range r.Begun {
		s.Recall(id)
	}
	for _, id := range r.Replay {
		s.Observe(id)
	}
	s.Skip(len(r.Replay))
	return s
}

// bareSampler is a sampler at the beginning of its random stream.
func bareSampler(t *tokenizer.Tokenizer, vocab int, p sampler.Params) *sampler.Sampler {
	s := sampler.New(min(t.Size(), vocab), p)
	s.Exempt = func(id int32) bool { return sampler.PipExempt(t.Bytes(id)) }
	s.Breaks = func(id int32) bool { return sampler.BreaksRepetition(t.Bytes(id)) }
	return s
}

// newAnswer continues the text of the snapshot, past the replayed tokens. If the
// request has tokens of a prompt, the text begins anew.
func newAnswer(m *Model, r Request) answer {
	a := answer{vocabulary: m.Tokenizer, stops: newStopper(r.Stops)}
	if r.From != nil && len(r.Tokens) == 0 {
		a.text.Restore(r.From.Tail)
		a.primeStops(r.From.Pending)
	}
	a.primeStops(r.Replay)
	for _, id := range r.Replay {
		a.text.Push(m.Tokenizer.Bytes(id))
	}
	return a
}

// maxRead is how many tokens q can read in its next row at most. A row ends where
// the prompt does, and tokens that are read singly are rows of their own.
func (q *sequence) maxRead() int {
	switch {
	case q.singleSteps > 0:
		return 1
	case q.phase == phaseRewinding && len(q.rereadSpans) > 1:
		return min(q.rereadSpans[0].Tokens, len(q.unread))
	case q.promptLeft > 0:
		return q.promptLeft
	}
	return len(q.unread)
}

// nextRow is q's row in a step that reads n tokens of unread, or decodes if n is 0.
func (q *sequence) nextRow(n int) Row {
	if q.phase == phaseDecoding {
		q.oneToken[0] = q.answer.ids[q.consumed]
		r := Row{Slot: q.slot, Adapter: q.adapter, Tokens: q.oneToken[:], Sampler: q.sampler, Top: q.req.Top, Logits: q.logits}
		if q.logitsOnDevice {
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
	if n == q.promptLeft || n == len(q.unread) { // n is never 0 here
		r.Logits = q.logits
	}
	if n == len(q.unread) && q.phase == phaseReading && !q.req.Logits && !q.drawsItself() {
		r.Sampler, r.Top = q.sampler, q.req.Top
	}
	return r
}

// memory is the sampler's memory after count drawn tokens. Its place in the random
// stream is counted here, so that it is right also after a draw that failed or is
// undone.
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
