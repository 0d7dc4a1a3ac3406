package panel

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

func TestPaceColumns(t *testing.T) {
	m := NewMonitor(testTheme(t))
	m.SetPaces([]Pace{{0, 10, 2 * time.Millisecond}, {10, 15, 4 * time.Millisecond}, {30, 40, 3 * time.Millisecond}})
	got := m.paceColumns(40, 4)
	for i, want := range []float64{2, 4, math.NaN(), 3} {
		if got[i] != want && !(math.IsNaN(want) && math.IsNaN(got[i])) {
			t.Errorf("column %d is %v, want %v", i, got[i], want)
		}
	}
	// More columns than tokens, and fewer than parts.
	if got := m.paceColumns(40, 160); got[0] != 2 || got[159] != 3 || !math.IsNaN(got[100]) {
		t.Errorf("%v", got)
	}
	if got := m.paceColumns(40, 1); math.Abs(got[0]-(20+20+30)/25.0) > 1e-9 {
		t.Errorf("one column is %v", got)
	}
	m.SetPaces(nil)
	if lines := m.paceLines(40, 4); lines != nil {
		t.Errorf("nothing is drawn as %q", lines)
	}
}

// Paces are noted as an answer runs, at their places in the conversation; what
// was answered at other times has the mean of its turn.
func TestPaces(t *testing.T) {
	const ms = time.Millisecond
	usage := infer.Usage{Generated: 20, DecodeTime: 190 * ms}
	v := chat.View{Turns: []turn.Turn{
		{ID: 1, Role: turn.RoleUser, Tokens: make([]int32, 10)},
		{ID: 2, Role: turn.RoleAssistant, Tokens: make([]int32, 19), Usage: usage},
		{ID: 3, Role: turn.RoleUser, Tokens: make([]int32, 5)},
	}}
	var p paces
	at := start
	live := &chat.Live{Turn: turn.Turn{ID: 4, Tokens: make([]int32, 2)}}
	for _, generated := range []int{0, 0, 3, 53, 78} {
		live.Progress.Generated = generated
		p.note(live, at)
		at = at.Add(time.Second)
	}
	v.Live = live
	want := []Pace{
		{From: 10, To: 30, PerToken: 10 * ms},
		{From: 34 + 2 + 3, To: 34 + 2 + 53, PerToken: 20 * ms},
		{From: 34 + 2 + 53, To: 34 + 2 + 78, PerToken: 40 * ms},
	}
	if d := cmp.Diff(want, p.of(v)); d != "" {
		t.Error(d)
	}
	// The ended answer keeps what was noted.
	v.Turns, v.Live = append(v.Turns, turn.Turn{ID: 4, Role: turn.RoleAssistant, Usage: usage}), nil
	if d := cmp.Diff(want, p.of(v)); d != "" {
		t.Error(d)
	}
	for id := range turn.ID(3 * pacedAnswers) {
		p.note(&chat.Live{Turn: turn.Turn{ID: 100 + id}}, at)
	}
	if len(p.order) != pacedAnswers || len(p.parts) != pacedAnswers || len(p.since) > pacedAnswers {
		t.Errorf("%d, %d and %d answers are remembered", len(p.order), len(p.parts), len(p.since))
	}
}
