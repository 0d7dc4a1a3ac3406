package infer

import "rookery/infer/sampler"

// A Stream is one running request. Its methods are safe for concurrent use
// and never block on the engine.
type Stream struct{}

// Read returns what has arrived since the last call: text that is certain to
// be shown (valid UTF-8, no part of a stop) and the tokens drawn (which may be
// ahead of the text). Both are nil when nothing is new.
func (s *Stream) Read() (text string, tokens []Token) { return "", nil }

// Changed has a value when Read, Progress or Ending has something new. It is a
// 1-slot signal for one reader.
func (s *Stream) Changed() <-chan struct{} { return nil }

// Done is closed when the request has ended and Ending is valid.
func (s *Stream) Done() <-chan struct{} { return nil }

// Ending is the result; valid after Done.
func (s *Stream) Ending() Ending { return Ending{} }

// Prompt is the snapshot after the last prompt token (Logits set), from the
// moment the prompt was read; nil before. A retry starts from it without reading.
func (s *Stream) Prompt() *Snapshot { return nil }

// Progress is where the request is now.
func (s *Stream) Progress() Progress { return Progress{} }

// SetSampling changes the parameters from the next token on. Seed is ignored.
func (s *Stream) SetSampling(p sampler.Params) {}

// Cancel ends the request after the running step; the Ending has everything up to then.
func (s *Stream) Cancel() {}
