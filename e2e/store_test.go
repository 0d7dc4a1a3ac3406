package e2e

import (
	"path/filepath"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/sessions"
)

// A storedConversation is a conversation as it is in the database.
type storedConversation struct {
	turn.Conversation
	turns []turn.Turn
}

// prompts returns the prompts of the visible line.
func (s storedConversation) prompts() []string {
	var out []string
	for _, t := range chat.Line(s.turns, s.Tip) {
		if t.Role == turn.RoleUser {
			out = append(out, t.Text)
		}
	}
	return out
}

// versions counts the versions of a turn, itself included.
func (s storedConversation) versions(of turn.Turn) int {
	n := 0
	for _, t := range s.turns {
		if t.Parent == of.Parent && t.Role == of.Role {
			n++
		}
	}
	return n
}

// tip returns the last turn of the visible line.
func (s storedConversation) tip() turn.Turn {
	line := chat.Line(s.turns, s.Tip)
	return line[len(line)-1]
}

// quit quits the program and returns what is stored, newest change first.
func (x *terminal) quit() []storedConversation {
	x.t.Helper()
	x.keys("C-q")
	x.see("exit:0")
	return stored(x.t, x.home)
}

// inStore opens the database of a home. No program may have it open.
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

// stored returns the conversations of a home, newest change first, and checks that the
// database is not damaged.
func stored(t *testing.T, home string) (talks []storedConversation) {
	t.Helper()
	inStore(t, home, func(s *sessions.Store) { talks = readConversations(t, s) })
	return talks
}

func readConversations(t *testing.T, s *sessions.Store) []storedConversation {
	t.Helper()
	list, err := s.Conversations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	talks := make([]storedConversation, len(list))
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

// readLibrary returns the states in the library of a home.
func readLibrary(t *testing.T, home string) (list []turn.State) {
	t.Helper()
	inStore(t, home, func(s *sessions.Store) {
		var err error
		if list, err = s.States(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return list
}
