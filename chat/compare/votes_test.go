package compare_test

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
)

func TestExportOfVotes(t *testing.T) {
	of := []turn.Description{
		`{"model":"rookery-demo","state":"demo, \"sad\"","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
		`{"model":"rookery-demo","mode":"rwkv","temperature":0.8,"top_p":0.9,"presence":0.5,"decay":0.996}`,
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	votes := []turn.Vote{{Prompt: "ab", Variants: of, Winner: 1, Created: at}, {Prompt: "cd", Variants: of, Winner: turn.Tie, Created: at}}

	var b strings.Builder
	if err := compare.WriteVotesCSV(&b, votes); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v:\n%s", len(rows), err, b.String())
	}
	want := `1,2026-03-01T12:00:00Z,ab,lost,rookery-demo,demo, "sad",,,`
	if got := strings.Join(rows[1][:9], ","); got != want {
		t.Errorf("the first variant is\n%s, want\n%s", got, want)
	}
	for i, want := range map[int]map[string]string{
		1: {"mode": "rwkv", "temperature": "0.8", "top_k": "0", "top_p": "0.9", "presence": "0", "frequency": "0", "decay": "0"},
		2: {"mode": "rwkv", "presence": "0.5", "decay": "0.996"},
	} {
		for column, value := range want {
			if got := rows[i][slices.Index(rows[0], column)]; got != value {
				t.Errorf("%s of variant %d is %q, want %q", column, i, got, value)
			}
		}
	}
	if rows[2][3] != "won" || rows[3][3] != "tied" || rows[4][0] != "2" {
		t.Errorf("the rows are %q", rows[1:])
	}

	b.Reset()
	if err := compare.WriteVotesJSONL(&b, votes); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var first, second struct {
		Prompt   string
		Variants []struct{ State string }
		Winner   *int
	}
	if json.Unmarshal([]byte(lines[0]), &first) != nil || json.Unmarshal([]byte(lines[len(lines)-1]), &second) != nil {
		t.Fatalf("not JSON:\n%s", b.String())
	}
	if len(lines) != 2 || first.Winner == nil || *first.Winner != 1 || second.Winner != nil || first.Variants[0].State != `demo, "sad"` {
		t.Errorf("the lines are\n%s", b.String())
	}
	if err := compare.WriteVotesJSONL(&b, []turn.Vote{{Variants: []turn.Description{"{"}}}); err == nil {
		t.Error("a broken description was written")
	}
}
