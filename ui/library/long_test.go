package library_test

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui"
	"rookery/ui/uitest"
)

// manyConversations is how many the list of the bench has.
const manyConversations = 10_000

// key presses a key and draws.
func key(t testing.TB, m tea.Model, name string) {
	m.Update(uitest.Key(t, name))
	if m.View().Content == "" {
		t.Fatal("nothing is drawn")
	}
}

// A key costs what is seen, however many conversations there are; a letter looks
// at every title.
func TestLongList(t *testing.T) {
	stored := make([]turn.Conversation, manyConversations)
	for i := range stored {
		stored[i] = turn.Conversation{ID: turn.ID(i + 2), Title: fmt.Sprintf("Conversation %d about rooks and their nests", i), Updated: time.Unix(int64(1e9-i), 0)}
	}
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{Stored: stored})
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 100, 40)
		term.Press("ctrl+o")
		term.Sees("Conversation 0 about")
		for _, c := range []struct {
			key  string
			most float64
		}{{"down", 5000}, {"pgdown", 5000}, {"r", 5 * manyConversations}, {"backspace", 5 * manyConversations}} {
			before := used()
			n := testing.AllocsPerRun(8, func() { key(t, term.Model(), c.key) })
			t.Logf("%s: %.0f allocations, %v", c.key, n, (used()-before)/9)
			if n > c.most {
				t.Errorf("%s takes %.0f allocations", c.key, n)
			}
		}
	})
}

// used is the processor time of this process.
func used() time.Duration {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}
