package compare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/chat/turn"
	"rookery/ui/uitest"
)

// vote8 are votes of which the state "sad" has won all but one.
func (g *stage) vote8() {
	of := []turn.Description{
		`{"model":"test","state":"sad","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
		`{"model":"test","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
	}
	for i := range 8 {
		winner := 0
		if i == 3 {
			winner = turn.Tie
		}
		g.store.before = append(g.store.before, turn.Vote{Prompt: "ab", Variants: of, Winner: winner})
	}
}

func TestWinTable(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: size[0], height: size[1]})
			g.vote8()
			g.Enter("/votes")
			g.Check()
			g.Sees("8 votes")
			g.Sees("7    1    0  94%")
			g.Press("down", "up", "pgdown", "pgup")
			g.Check()
			g.Press("esc")
			g.SeesNot("8 votes")
		})
	}
}

func TestWinTableWithoutVotes(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := compared(t, script{width: 80, height: 24})
		g.Press("w")
		g.Sees("Nobody has voted yet.")
		g.Press("alt+c")
		g.Sees("esc close")
		g.Press("esc")
		g.Sees("4 answers side by side")
	})
}

func TestExportOfVotes(t *testing.T) {
	for key, name := range map[string]string{"alt+c": "votes.csv", "alt+j": "votes.jsonl"} {
		t.Chdir(t.TempDir())
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: 80, height: 24})
			g.vote8()
			g.Enter("/votes")
			g.Press(key)
			g.Sees(name)
			g.Press("enter")
			data, err := os.ReadFile(filepath.Join(".", name))
			if err != nil || strings.Count(string(data), "sad") != 8 {
				t.Errorf("%s: %v:\n%s", name, err, data)
			}
			g.Sees("8 votes exported to " + name)
			g.Press(key, "enter")
			g.Sees("exists: choose another name")
		})
	}
}

// A vote is given from the composer, too.
func TestVoteByCommand(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := compared(t, script{width: 80, height: 24})
		g.host.CloseDialogs()
		g.Enter("/votes 9")
		g.Sees("4 answers wait for a vote")
		g.Press("esc", "ctrl+u")
		g.Enter("/votes 2")
		g.Sees("You prefer animals")
		g.Enter("/votes")
		g.Sees("1 vote")
	})
}
