package library

import (
	"errors"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// A Base is what is known of the state that a conversation begins from, before
// the state itself is read. The zero Base is the zero state.
type Base struct {
	Name                 string
	Kind                 statefile.Kind
	Adapter, AdapterName string // that it was made with
}

// BaseOf is what is known of a state that a conversation begins from.
func BaseOf(s *turn.State) Base { return Base{s.Name, s.Kind, s.Adapter, s.AdapterName} }

// Beginning is what the state has read.
func (b Base) Beginning() prompt.Beginning {
	switch b.Kind {
	case "":
		return prompt.FromZero
	case statefile.Tuned:
		return prompt.Tuned
	default:
		return prompt.AfterText
	}
}

// BeginFrom is where the first prompt of a conversation is read from: the
// snapshot of its base and tokens to read before anything else. Where the
// weights have changed under a conversation that begins from a text, the text
// is read again from its tokens.
func BeginFrom(s turn.State, m *infer.Model) (*infer.Snapshot, []int32, error) {
	from, err := s.Begin(m)
	if err == nil {
		return from, nil, nil
	}
	var mismatch *statefile.MismatchError
	readable := s.Kind == statefile.Baked && len(s.Tokens) > 0 && s.Snapshot != nil && s.Snapshot.Tokenizer == m.Tokenizer.Fingerprint()
	if errors.As(err, &mismatch) && readable {
		return nil, s.Tokens, nil
	}
	return nil, nil, err
}
