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
// It is an unbounded buffer between the engine and one reader: the engine
// appends under a mutex that nobody holds for longer than a copy, so that a
// slow reader costs memory, never a step.
type Stream struct {
	label   string
	wake    func() // wakes the engine
	changed chan struct{}
	done    chan struct{}

	cancelled atomic.Bool
	sampling  atomic.Pointer[sampler.Params] // not yet taken over by the engine
	adapter   atomic.Pointer[string]         // likewise
	weights   atomic.Pointer[[]float32]      // likewise
	looking   atomic.Bool                    // an Outlook is asked for
	outlook   atomic.Pointer[Distribution]   // the last one

	mu       sync.Mutex
	text     []byte // all of the answer that is certain
	given    int    // bytes of text that Read has returned
	tokens   []Token
	prompt   *Snapshot
	progress Progress
	spans    []Span
	reads    string // the adapter that tokens are read with since
	ending   Ending
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

// Read returns what has arrived since the last call: text that is certain to
// be shown (valid UTF-8, no part of a stop) and the tokens drawn (which may be
// ahead of the text, by those of a stop; token 0 is not among them). Both are
// nil when nothing is new.
func (s *Stream) Read() (text string, tokens []Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given < len(s.text) {
		text = string(s.text[s.given:])
		s.given = len(s.text)
	}
	if len(s.tokens) > 0 {
		tokens = slices.Clone(s.tokens)
		clear(s.tokens) // for the candidates they point to
		s.tokens = s.tokens[:0]
	}
	return text, tokens
}

// Changed has a value when Read, Progress or Ending has something new. It is a
// 1-slot signal for one reader.
func (s *Stream) Changed() <-chan struct{} { return s.changed }

// Done is closed when the request has ended and Ending is valid.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Ending is the result; valid after Done.
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

// Prompt is the snapshot after the last prompt token (Logits set), from the
// moment the prompt was read; nil before. A retry starts from it without
// reading. Request.Replay comes after it. It stays nil if nothing but Replay
// was read, and nothing is known of what came before.
func (s *Stream) Prompt() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompt
}

// Spans are how the request has read its tokens, From.Pending and those it drew
// among them, up to the last change of the adapter; nil before any. The tokens
// since are read with the adapter now, which is not yet one that was set a
// moment ago.
func (s *Stream) Spans() (before []Span, now string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spans, s.reads
}

// Progress is where the request is now.
func (s *Stream) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// SetSampling changes the parameters from the next token on. Seed is ignored,
// and so are parameters that Validate refuses.
func (s *Stream) SetSampling(p sampler.Params) {
	if p.Validate() != nil {
		return
	}
	p.Ban = slices.Clone(p.Ban)
	s.sampling.Store(&p)
}

// SetAdapter makes a loaded adapter, or with "" none, count from the next step
// on: what the state has read stays as it was read. A fingerprint that is not
// loaded changes nothing.
func (s *Stream) SetAdapter(fingerprint string) { s.adapter.Store(&fingerprint) }

// SetWeights gates a mix anew from the next token on: a weight for each state,
// the request's own first. Weights that CheckWeights refuses change nothing,
// and neither does another number of them than the mix has states.
func (s *Stream) SetWeights(weights []float32) {
	if CheckWeights(weights) != nil {
		return
	}
	w := slices.Clone(weights)
	s.weights.Store(&w)
}

// Cancel ends the request after the running step; the Ending has everything up to then.
func (s *Stream) Cancel() {
	s.cancelled.Store(true)
	s.wake()
}

// publish adds a drawn token and the text it made certain.
func (s *Stream) publish(t Token, text string) {
	s.mu.Lock()
	s.tokens = append(s.tokens, t)
	s.text = append(s.text, text...)
	s.mu.Unlock()
}

// publishText adds text that became certain without a token.
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
	s.spans, s.reads = before, now
	s.mu.Unlock()
}

func (s *Stream) setProgress(p Progress) {
	s.mu.Lock()
	s.progress = p
	s.mu.Unlock()
	s.signal()
}

// finish publishes the ending, whose Text it fills in.
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
