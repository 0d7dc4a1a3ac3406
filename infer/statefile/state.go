package statefile

import (
	"cmp"
	"fmt"
	"time"

	"rookery/infer"
	"rookery/infer/rwkv"
)

// A Kind says how a state came to be.
type Kind string

// The kinds.
const (
	Tuned Kind = "tuned" // trained: it has read nothing
	Baked Kind = "baked" // the state after a text, read from the zero state
	Saved Kind = "saved" // the state after a turn of a conversation
)

// A State is a base state for conversations, with its origin. It is immutable once
// made and may be shared.
type State struct {
	// Key is the state's number in the library that it was exported from; 0 if it is
	// from none. Conversations find it by that number.
	Key       int64
	Name      string
	Kind      Kind
	Source    string // the file or conversation it came from, for people
	Model     string // infer.Model.Fingerprint; empty: any of the shape
	ModelName string // empty if not known
	// Adapter and AdapterName are the fingerprint and the name of the adapter that
	// the state was made with; empty for none. A conversation from it uses the same.
	Adapter, AdapterName string
	// Shape has at least what a state's layout follows from: version, layers,
	// channels, heads and their size.
	Shape   rwkv.Shape
	Tokens  []int32 // read since the zero state or its base state
	Created time.Time
	// Snapshot has the state itself. It is nil in lists.
	Snapshot *infer.Snapshot
}

// ShapeOf is the part of a model's shape that a State has.
func ShapeOf(m *infer.Model) rwkv.Shape {
	s := m.Shape
	return rwkv.Shape{Version: s.Version, Layers: s.Layers, Embed: s.Embed, Heads: s.Heads, HeadSize: s.HeadSize}
}

// A MismatchError says that a state is of another model than the one that runs.
type MismatchError struct {
	State   string // its name
	Model   string // the state's model, for people
	Running string
	Problem string // what differs
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the state %q is of %s, and %s is running: %s; start with the model it was made for", e.State, e.Model, e.Running, e.Problem)
}

// An AdapterError says that a state was made with another adapter than the one in
// use.
type AdapterError struct {
	State   string // its name
	Adapter string // the state's adapter, for people
	Other   string // the adapter in use; empty for none
}

func (e *AdapterError) Error() string {
	other := "no adapter is in use"
	if e.Other != "" {
		other = fmt.Sprintf("%s is in use", e.Other)
	}
	return fmt.Sprintf("the state %q was made with the adapter %s, and %s: use that adapter, or begin from another state", e.State, e.Adapter, other)
}

// CheckAdapter says why an adapter ("" is none) cannot go on from the state, or
// nil. Any adapter can go on from a state that was made without one.
func (s *State) CheckAdapter(fingerprint, name string) error {
	if s.Adapter == "" || s.Adapter == fingerprint {
		return nil
	}
	e := &AdapterError{State: s.Name, Adapter: cmp.Or(s.AdapterName, s.Adapter)}
	if fingerprint != "" {
		e.Other = cmp.Or(name, fingerprint)
	}
	return e
}

// Check says why a conversation of a model cannot begin from the state, or nil.
func (s *State) Check(m *infer.Model) error {
	problem := func(format string, args ...any) error {
		return &MismatchError{State: s.Name, Model: s.of(), Running: m.Name, Problem: fmt.Sprintf(format, args...)}
	}
	a, b := s.Shape, m.Shape
	switch {
	case a.Layers != b.Layers || a.Embed != b.Embed:
		return problem("it has %d layers of %d channels, not %d of %d", a.Layers, a.Embed, b.Layers, b.Embed)
	case a.Heads != b.Heads || a.HeadSize != b.HeadSize:
		return problem("it has %d heads of %d, not %d of %d", a.Heads, a.HeadSize, b.Heads, b.HeadSize)
	case a.Version != b.Version && (s.Kind != Tuned || !a.SameState(b)):
		return problem("it is %v, not %v", a.Version, b.Version)
	case s.Model != "" && infer.Weights(s.Model) != m.Weights():
		return problem("the weights are others")
	case s.Snapshot != nil && s.Snapshot.Tokenizer != "" && s.Snapshot.Tokenizer != m.Tokenizer.Fingerprint():
		return problem("the vocabulary is another one")
	}
	return s.checkTokens(m.Shape.Vocab)
}

// checkTokens refuses what the state has read, or is to read, and a model of that
// many tokens cannot.
func (s *State) checkTokens(vocab int) error {
	err := infer.CheckTokens("token", s.Tokens, vocab)
	if err == nil && s.Snapshot != nil {
		err = infer.CheckTokens("pending token", s.Snapshot.Pending, vocab)
	}
	if err != nil {
		return fmt.Errorf("the state %q: %w; it is damaged, or of another vocabulary", s.Name, err)
	}
	return nil
}

// of names the state's model for people.
func (s *State) of() string {
	if s.ModelName != "" {
		return s.ModelName
	}
	return fmt.Sprintf("a model of %d layers and %d channels", s.Shape.Layers, s.Shape.Embed)
}

// Begin is the snapshot that a conversation begins with: at position 0, with
// nothing drawn. The model may have the same weights rounded to another type: the
// conversation has no earlier tokens to be consistent with.
func (s *State) Begin(m *infer.Model) (*infer.Snapshot, error) {
	if err := s.Check(m); err != nil {
		return nil, err
	}
	if s.Snapshot == nil || len(s.Snapshot.State) != m.Shape.StateLen() {
		return nil, fmt.Errorf("the state %q is damaged: it has not the values that %s needs; import or bake it again", s.Name, m.Name)
	}
	return &infer.Snapshot{
		Model: m.Fingerprint, Tokenizer: m.Tokenizer.Fingerprint(),
		State: s.Snapshot.State, Pending: s.Snapshot.Pending, Adapter: s.Adapter,
	}, nil
}
