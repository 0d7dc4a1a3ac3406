package infer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"rookery/infer/sampler"
)

// A Stream is one running request. Its methods are safe for concurrent use
// and never block on the engine.
//
// It is an unbounded buffer between the engine and one reader. The engine appends
// under a mutex that is never held for longer than a copy, so a slow reader costs
// memory and no step.
type Stream struct {
	label   string
	wake    func() // wakes the engine
	changed chan struct{}
	done    chan struct{}

	cancelled         atomic.Bool
	sampling          atomic.Pointer[sampler.Params] // for the engine to apply; nil when it has
	adapter           atomic.Pointer[string]         // for the engine to apply
	weights           atomic.Pointer[[]float32]      // for the engine to apply
	wantsDistribution atomic.Bool                    // Look was called
	distribution      atomic.Pointer[Distribution]   // the last one that Look has brought

	mu         sync.Mutex
	text       []byte // all of the answer that is certain
	delivered  int    // bytes of text that Read has returned
	tokens     []Token
	prompt     *Snapshot
	progress   Progress
	spans      []Span
	adapterNow string // the adapter of the tokens after spans
	ending     Ending
}

func newStream(label string, toRead int, wake func()) *Stream {
	return &Stream{
		label:    label,
		wake:     wake,
		changed:  make(chan struct{}, 1),
		done:     make(chan struct{}),
		progress: Progress{ToRead: toRead},
	}
}

// Read returns what has arrived since the last call: text of the answer (valid
// UTF-8, no part of a stop) and the drawn tokens (without token 0). Tokens can be
// ahead of the text by those that may belong to a stop. text is empty and tokens
// is nil if there is nothing new.
func (s *Stream) Read() (text string, tokens []Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delivered < len(s.text) {
		text = string(s.text[s.delivered:])
		s.delivered = len(s.text)
	}
	if len(s.tokens) > 0 {
		tokens = slices.Clone(s.tokens)
		clear(s.tokens) // for the candidates they point to
		s.tokens = s.tokens[:0]
	}
	return text, tokens
}

// Changed has a value when Read, Progress or Ending has something new. It holds
// one value and is for one reader.
func (s *Stream) Changed() <-chan struct{} { return s.changed }

// Done is closed when the request has ended.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Ending is the result. It is valid once Done is closed.
func (s *Stream) Ending() Ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// Wait returns how the request ended. When ctx ends before, it cancels the
// request. A request that failed or was cancelled is an error.
func (s *Stream) Wait(ctx context.Context) (Ending, error) {
	select {
	case <-s.Done():
	case <-ctx.Done():
		s.Cancel()
		<-s.Done()
	}
	end := s.Ending()
	switch {
	case end.Err != nil:
		return end, end.Err
	case end.Reason == ReasonCancelled && ctx.Err() != nil:
		return end, ctx.Err()
	case end.Reason == ReasonCancelled:
		return end, ErrClosed
	}
	return end, nil
}

// Prompt is the snapshot after the last prompt token and before Request.Replay,
// with Logits. A retry starts from it and reads nothing. It is nil until the
// prompt is read, and stays nil if the request reads nothing but Replay and its
// From has no logits.
func (s *Stream) Prompt() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompt
}

// Spans are the tokens that the request has read, From.Pending and drawn ones
// included, up to the last change of the adapter; nil if there was none. The
// tokens after them are read with the adapter now. SetAdapter changes now at the
// next step.
func (s *Stream) Spans() (before []Span, now string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spans, s.adapterNow
}

// Progress is where the request is now.
func (s *Stream) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// SetSampling changes the parameters from the next token on. It ignores Seed, and
// parameters that Validate refuses.
func (s *Stream) SetSampling(p sampler.Params) {
	if p.Validate() != nil {
		return
	}
	p.Ban, p.Bias = slices.Clone(p.Ban), slices.Clone(p.Bias)
	s.sampling.Store(&p)
}

// SetAdapter uses another loaded adapter, or none for "", from the next step on.
// The state keeps what it has read. The fingerprint of an adapter that is not
// loaded changes nothing.
func (s *Stream) SetAdapter(fingerprint string) { s.adapter.Store(&fingerprint) }

// SetWeights changes the weights of a mix from the next token on: one for each
// state, the request's own first. It ignores weights that CheckWeights refuses,
// and a number of them that is not the number of states.
func (s *Stream) SetWeights(weights []float32) {
	if CheckWeights(weights) != nil {
		return
	}
	w := slices.Clone(weights)
	s.weights.Store(&w)
}

// Cancel ends the request after the running step. The Ending has everything up to
// then.
func (s *Stream) Cancel() {
	s.cancelled.Store(true)
	s.wake()
}

// publish adds a drawn token and the text that is certain with it.
func (s *Stream) publish(t Token, text string) {
	s.mu.Lock()
	s.tokens = append(s.tokens, t)
	s.text = append(s.text, text...)
	s.mu.Unlock()
}

// publishText adds text that is certain without a further token.
func (s *Stream) publishText(text string) {
	s.mu.Lock()
	s.text = append(s.text, text...)
	s.mu.Unlock()
}

func (s *Stream) setPrompt(p *Snapshot) {
	s.mu.Lock()
	s.prompt = p
	s.mu.Unlock()
	s.signal()
}

func (s *Stream) setSpans(before []Span, now string) {
	s.mu.Lock()
	s.spans, s.adapterNow = before, now
	s.mu.Unlock()
}

func (s *Stream) setProgress(p Progress) {
	s.mu.Lock()
	s.progress = p
	s.mu.Unlock()
	s.signal()
}

// finish fills in the Text of the ending and publishes it.
func (s *Stream) finish(e Ending) {
	s.mu.Lock()
	e.Text = string(s.text)
	s.ending = e
	s.mu.Unlock()
	close(s.done)
	s.signal()
}

func (s *Stream) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
