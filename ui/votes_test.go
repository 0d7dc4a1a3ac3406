package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/chat/turn"
)

// voted is a workspace on which the state "sad" has won all votes but one.
func voted() *fakeDesk {
	k := compareDesks()
	of := []turn.Description{
		`{"model":"test","state":"sad","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
		`{"model":"test","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
	}
	for i := range 8 {
		winner := 0
		if i == 3 {
			winner = turn.Tie
		}
		k.votes = append(k.votes, turn.Vote{Prompt: "ab", Variants: of, Winner: winner, Created: now})
	}
	return k
}

func TestWinTable(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		b := newBench(t, voted(), Settings{}, size[0], size[1])
		b.typeText("/votes")
		b.press("enter")
		b.check()
		b.sees("8 votes")
		b.sees("7    1    0  94%")
		b.press("down", "up", "pgdown", "pgup")
		b.check()
		b.press("esc")
		b.seesNot("8 votes")
	}
}

func TestWinTableWithoutVotes(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	compared(b)
	b.press("w")
	b.sees("Nobody has voted yet.")
	b.press("alt+c", "esc")
	b.sees("4 answers side by side")
}

func TestExportOfVotes(t *testing.T) {
	for key, name := range map[string]string{"alt+c": "votes.csv", "alt+j": "votes.jsonl"} {
		t.Chdir(t.TempDir())
		b := newBench(t, voted(), Settings{}, 80, 24)
		b.typeText("/votes")
		b.press("enter", key)
		b.sees(name)
		b.press("enter")
		data, err := os.ReadFile(filepath.Join(".", name))
		if err != nil || strings.Count(string(data), "sad") != 8 {
			t.Errorf("%s: %v:\n%s", name, err, data)
		}
		b.sees("8 votes exported to " + name)
		b.press(key, "enter")
		b.sees("is there already")
	}
}

func TestPlainVotes(t *testing.T) {
	k := voted()
	var out strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: k.open[0]}
	if err := p.command("votes", ""); err != nil {
		t.Fatal(err)
	}
	if want := "test, sad, temperature 0.8, top_p 0.9: 7 won, 1 tied, 0 lost; rate 94 percent"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not said:\n%s", want, out.String())
	}
}
