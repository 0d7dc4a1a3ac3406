package e2e

import (
	"path/filepath"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/sessions"
)

// A storedTalk is a conversation as the database has it.
type storedTalk struct {
	turn.Conversation
	turns []turn.Turn
}

// prompts are the texts of the visible line's prompts.
func (s storedTalk) prompts() []string {
	var out []string
	for _, t := range chat.Line(s.turns, s.Tip) {
		if t.Role == turn.RoleUser {
			out = append(out, t.Text)
		}
	}
	return out
}

// versions is how many turns have the same turn above them as one.
func (s storedTalk) versions(of turn.Turn) int {
	n := 0
	for _, t := range s.turns {
		if t.Parent == of.Parent && t.Role == of.Role {
			n++
		}
	}
	return n
}

// tip is the last turn of the visible line.
func (s storedTalk) tip() turn.Turn {
	line := chat.Line(s.turns, s.Tip)
	return line[len(line)-1]
}

// quit leaves the program and returns what is stored, newest change first.
func (x *terminal) quit() []storedTalk {
	x.t.Helper()
	x.keys("C-q")
	x.see("exit:0")
	return stored(x.t, x.home)
}

// inStore opens the database of a home, which nobody else may have open.
func inStore(t *testing.T, home string, do func(s *sessions.Store)) {
	t.Helper()
	s, err := sessions.Open(t.Context(), filepath.Join(home, "data", "rookery"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	do(s)
}

// stored are the conversations of a home, newest change first, in a database
// without damage.
func stored(t *testing.T, home string) (talks []storedTalk) {
	t.Helper()
	inStore(t, home, func(s *sessions.Store) { talks = read(t, s) })
	return talks
}

func read(t *testing.T, s *sessions.Store) []storedTalk {
	t.Helper()
	list, err := s.Conversations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	talks := make([]storedTalk, len(list))
	for i, c := range list {
		talks[i].Conversation = c
		if _, talks[i].turns, err = s.Load(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("the database has %v, %v", problems, err)
	}
	return talks
}

// library are the states of a home's library.
func library(t *testing.T, home string) (list []turn.State) {
	t.Helper()
	inStore(t, home, func(s *sessions.Store) {
		var err error
		if list, err = s.States(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return list
}
