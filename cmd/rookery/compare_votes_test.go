package main

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
)

// Exports have every vote, and escape whatever a description holds.
func TestVotesExport(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	votes := []turn.Vote{
		{Prompt: "p1", Variants: []turn.Description{`{"model":"m","state":"a, \"b\"\n"}`, `{"model":"m"}`}, Winner: 1, Created: at},
		{Prompt: "p2", Variants: []turn.Description{`{"model":"m"}`, `{"model":"n"}`, `{"model":"o"}`}, Winner: turn.Tie, Created: at},
	}
	var out strings.Builder
	if err := votesCSV(&out, votes); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil || len(rows) != 3 || len(rows[0]) != 6 {
		t.Fatalf("%q: %v", rows, err)
	}
	if r := rows[1]; r[0] != "2026-03-04T05:06:07Z" || r[1] != "p1" || r[2] != "2" || r[3] != string(votes[0].Variants[0]) || r[5] != "" {
		t.Errorf("%q", r)
	}
	if rows[2][2] != "0" || rows[2][5] != `{"model":"o"}` {
		t.Errorf("%q", rows[2])
	}
	out.Reset()
	if err := votesJSONL(&out, votes); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	var v voteJSON
	if err := json.Unmarshal([]byte(lines[0]), &v); err != nil || len(lines) != 2 || v.Winner != 2 || !v.Time.Equal(at) || string(v.Variants[1]) != `{"model":"m"}` {
		t.Errorf("%q: %+v, %v", lines, v, err)
	}
	out.Reset()
	if err := printWins(&out, compare.CountWins(votes)); err != nil || !strings.Contains(out.String(), "m, temperature 0") || !strings.Contains(out.String(), " % (") {
		t.Errorf("%s: %v", &out, err)
	}
	if s := newStandings(votes); len(s) != 4 || s[0].Votes != 2 || !(s[0].Won[1] < s[0].Won[0] && s[0].Won[0] < s[0].Won[2]) {
		t.Errorf("%+v", s)
	}
}
