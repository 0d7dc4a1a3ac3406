package ui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	gpus "rookery/infer/gauge"
	"rookery/ui/panel"
)

func TestSurroundingsWhileTheMonitorIsOpen(t *testing.T) {
	at, reads := now, 0
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{talk()}, stats: busy()}, Settings{}, 140, 60)
	b.m.clock = func() time.Time { return at }
	b.m.surroundings.read = func() panel.Surroundings {
		reads++
		return panel.Surroundings{Disk: 7 << 20, GPUs: []gpus.Reading{{Name: "Fake GPU", Load: 0.5, Power: float64(100 * reads)}}}
	}
	b.send(tickMsg{})
	if reads != 0 {
		t.Error("a closed monitor reads")
	}
	b.press("f4")
	b.sees("Fake GPU")
	b.sees("100 W")
	b.sees("on disk")
	b.send(tickMsg{})
	if reads != 1 {
		t.Errorf("%d reads in one moment", reads)
	}
	at = at.Add(aroundEvery)
	b.send(tickMsg{})
	b.sees("200 W")
	b.press("f4")
	at = at.Add(aroundEvery)
	b.send(tickMsg{})
	if reads != 2 {
		t.Error("a closed monitor reads")
	}
}

// Paces are noted as an answer runs, at their places in the conversation; what
// was answered at other times has the mean of its turn.
func TestPaces(t *testing.T) {
	const ms = time.Millisecond
	usage := infer.Usage{Generated: 20, DecodeTime: 200 * ms}
	v := chat.View{Turns: []turn.Turn{
		{ID: 1, Role: turn.RoleUser, Tokens: make([]int32, 10)},
		{ID: 2, Role: turn.RoleAssistant, Tokens: make([]int32, 19), Usage: usage},
		{ID: 3, Role: turn.RoleUser, Tokens: make([]int32, 5)},
	}}
	var p paces
	at := now
	live := &chat.Live{Turn: turn.Turn{ID: 4, Tokens: make([]int32, 2)}}
	for _, generated := range []int{0, 0, 3, 53, 78} {
		live.Progress.Generated = generated
		p.note(live, at)
		at = at.Add(time.Second)
	}
	v.Live = live
	want := []panel.Pace{
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
