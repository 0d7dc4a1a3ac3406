package main

import (
	"strings"
	"testing"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
)

func TestWinTable(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	votes := []turn.Vote{
		{Prompt: "p1", Variants: []turn.Description{`{"model":"m","state":"a, \"b\"\n"}`, `{"model":"m"}`}, Winner: 1, Created: at},
		{Prompt: "p2", Variants: []turn.Description{`{"model":"m"}`, `{"model":"n"}`, `{"model":"o"}`}, Winner: turn.Tie, Created: at},
	}
	var out strings.Builder
	if err := printWins(&out, compare.CountWins(votes)); err != nil || !strings.Contains(out.String(), "m, temperature 0") || !strings.Contains(out.String(), " % (") {
		t.Errorf("%s: %v", &out, err)
	}
	if s := newStandings(votes); len(s) != 4 || s[0].Votes != 2 || !(s[0].Won[1] < s[0].Won[0] && s[0].Won[0] < s[0].Won[2]) {
		t.Errorf("%+v", s)
	}
}
