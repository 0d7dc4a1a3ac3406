package infer

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrClosed is what Submit returns on a closed engine.
var ErrClosed = errors.New("the engine is closed")

// A MismatchError says that a snapshot is of another model or tokenizer than the
// engine runs, or of another adapter than the request names.
type MismatchError struct {
	What     string // "model", "tokenizer" or "adapter"
	Snapshot string // fingerprint of the snapshot's
	Engine   string // fingerprint of the engine's
	Name     string // what a person calls the engine's
}

func (e *MismatchError) Error() string {
	if e.What == adapterWord {
		return fmt.Sprintf("this state was made with %s, but the request has %s: use that adapter, or read the text again",
			oneAdapter(e.Snapshot), oneAdapter(cmp.Or(e.Name, e.Engine)))
	}
	return fmt.Sprintf("this state was made by %s %s, but %s %s (%s) is running: open the one it was made by, or read the text again",
		e.What, e.Snapshot, e.What, e.Name, e.Engine)
}

const adapterWord = "adapter"

func oneAdapter(name string) string {
	if name == "" {
		return "no adapter"
	}
	return "the adapter " + name
}

// checkAdapter refuses a state that was made with another adapter. Any adapter can
// begin from a base state (position 0) that was made without one.
func (e *Engine) checkAdapter(r *Request) error {
	s := r.From
	if r.AnyAdapter || s == nil || s.State == nil || s.Adapter == r.Adapter || s.Adapter == "" && s.Position == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return &MismatchError{
		What: adapterWord, Snapshot: cmp.Or(e.adapterNames[s.Adapter], s.Adapter), Engine: r.Adapter, Name: e.adapterNames[r.Adapter],
	}
}

// check says what is wrong with a request on a model, or nil.
func (r *Request) check(m *Model) error {
	if err := r.Sampling.Validate(); err != nil {
		return fmt.Errorf("sampling: %w", err)
	}
	if r.MaxTokens < 0 {
		return fmt.Errorf("at most %d generated tokens: the number must not be negative", r.MaxTokens)
	}
	if r.Top < 0 || r.Top > m.Shape.Vocab {
		return fmt.Errorf("%d candidates with every token: the number must be 0 to %d", r.Top, m.Shape.Vocab)
	}
	for i, stop := range r.Stops {
		if stop == "" {
			return fmt.Errorf("stop %d is empty: it would end every answer at once", i+1)
		}
	}
	if err := r.From.check(m); err != nil {
		return err
	}
	if err := checkMembers(m, r.Weight, r.Members); err != nil {
		return err
	}
	if err := CheckTokens("token", r.Tokens, m.Shape.Vocab); err != nil {
		return err
	}
	if err := CheckTokens("replayed token", r.Replay, m.Shape.Vocab); err != nil {
		return err
	}
	if err := CheckTokens("token to score", r.Score, min(m.Tokenizer.Size(), m.Shape.Vocab)); err != nil {
		return err
	}
	if len(r.Score) > 0 && (len(r.Replay) > 0 || r.Logits) {
		return errors.New("tokens are scored for themselves: ask for the logits, or for what comes after a replay, in another request")
	}
	return r.checkStart()
}

// checkStart refuses a request that would have no logits to draw from.
func (r *Request) checkStart() error {
	if len(r.Tokens) > 0 || len(r.Replay) > 0 {
		return nil
	}
	if r.From != nil && (len(r.From.Pending) > 0 || r.From.Logits != nil) {
		return nil
	}
	return errors.New("nothing to read and nothing to continue from: give the request at least one token")
}

// check says why the snapshot cannot be continued on a model; a nil snapshot can.
func (s *Snapshot) check(m *Model) error {
	if s == nil {
		return nil
	}
	if s.Model != m.Fingerprint {
		return &MismatchError{What: "model", Snapshot: s.Model, Engine: m.Fingerprint, Name: m.Name}
	}
	if s.Tokenizer != m.Tokenizer.Fingerprint() {
		return &MismatchError{What: "tokenizer", Snapshot: s.Tokenizer, Engine: m.Tokenizer.Fingerprint(), Name: m.Tokenizer.Name()}
	}
	if n := m.Shape.StateLen(); s.State != nil && len(s.State) != n {
		return fmt.Errorf("this snapshot's state has %d values, but one of %s has %d: the snapshot is damaged", len(s.State), m.Name, n)
	}
	if n := m.Shape.Vocab; s.Logits != nil && len(s.Logits) != n {
		return fmt.Errorf("this snapshot has %d logits, but %s has %d: the snapshot is damaged", len(s.Logits), m.Name, n)
	}
	if err := checkMembers(m, s.Weight, s.Members); err != nil {
		return err
	}
	return CheckTokens("pending token", s.Pending, m.Shape.Vocab)
}

// MostTokens is more than any vocabulary has.
const MostTokens = 1 << 24

// CheckTokens refuses ids that a vocabulary of that many does not have. what
// names one of them.
func CheckTokens(what string, ids []int32, vocab int) error {
	for i, id := range ids {
		if id < 0 || int(id) >= vocab {
			return fmt.Errorf("%s %d is %d: the model has tokens 0 to %d", what, i, id, vocab-1)
		}
	}
	return nil
}
