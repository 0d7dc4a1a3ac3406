package grammar

import (
	"errors"
	"fmt"
	"sync"
)

// A Grammar is a set of texts. It is safe for concurrent use.
type Grammar struct {
	program *program

	mu      sync.Mutex
	machine *machine // for the vocabulary that was asked for last
}

// build compiles what a parser made.
func build(s *source) (*Grammar, error) {
	p, err := s.compile()
	if err != nil {
		return nil, err
	}
	return &Grammar{program: p}, nil
}

// A Matcher follows one answer. It is not safe for concurrent use; several
// matchers of a grammar are.
type Matcher struct {
	grammar *Grammar
	tokens  Tokens
	machine *machine
	at      *position
}

// Match begins a text. Tokens are those of the vocabulary.
func (g *Grammar) Match(v *Vocabulary, t Tokens) *Matcher {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.machine == nil || g.machine.vocabulary != v {
		g.machine = newMachine(g.program, v)
	}
	return &Matcher{grammar: g, tokens: t, machine: g.machine, at: g.machine.start}
}

// ErrMismatch says that a text is not what the grammar describes.
var ErrMismatch = errors.New("the text is not what the grammar asks for")

// Accept reads a token of the text. It returns an ErrMismatch, and stays where
// it is, if the token cannot come next. Token 0 is the end of the text.
func (m *Matcher) Accept(token int32) error {
	m.grammar.mu.Lock()
	defer m.grammar.mu.Unlock()
	text := m.tokens.Bytes(token)
	if len(text) == 0 {
		if token == 0 && m.at.final {
			return nil
		}
		return fmt.Errorf("%w: it cannot end here", ErrMismatch)
	}
	m.machine.makeRoom()
	next := m.machine.read(m.at, text)
	if next.dead() {
		return fmt.Errorf("%w: %q cannot come here", ErrMismatch, clip(string(text)))
	}
	m.at = next
	return nil
}

// Mask has a bit for each token that may come next, from the lowest of the
// first word. The bit of token 0 says whether the text may end here. The caller
// must not change it.
func (m *Matcher) Mask() []uint64 {
	m.grammar.mu.Lock()
	defer m.grammar.mu.Unlock()
	return m.machine.mask(m.at)
}

// Complete says that the text is whole and nothing can follow.
func (m *Matcher) Complete() bool { return m.at.final && len(m.at.tops) == 0 }

// clip shortens a text for an error.
func clip(text string) string {
	if len(text) <= 60 {
		return text
	}
	return text[:60] + "..."
}
