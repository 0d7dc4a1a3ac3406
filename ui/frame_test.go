package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
)

// article is markdown of about n bytes.
func article(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Section %d\n\nA paragraph with **bold**, `code` and some words that fill a line or two of the screen, number %d.\n\n", i, i)
		fmt.Fprintf(&b, "- first point\n- second point with [a link](https://example.org/%d)\n\n", i)
		if i%4 == 0 {
			fmt.Fprintf(&b, "```go\nfunc f%d() int {\n\treturn %d // a comment\n}\n```\n\n", i, i)
		}
	}
	return b.String()
}

// streaming is a bench whose running answer is already long.
func streaming(t testing.TB, before, sofar int) (*bench, string) {
	d := newSketch(1, "Long")
	d.say(turn.RoleUser, "Write a book.")
	if before > 0 {
		d.say(turn.RoleAssistant, article(before))
		d.say(turn.RoleUser, "Go on.")
	}
	text := article(sofar)
	b := newBench(t, &scene{open: []*sketch{d}}, Settings{}, 120, 40)
	b.paint(0, running(text, infer.Progress{Generated: 1, Rate: 50}))
	return b, text
}

// frames streams tokens of four bytes, one for each frame, and returns the
// times that the interface took for a frame, drawing included.
func frames(b *bench, text string, tokens int) (took []time.Duration) {
	more := article(len(text) + 5*tokens)[len(text):]
	var buf strings.Builder
	buf.WriteString(text)
	for i := range tokens {
		buf.WriteString(more[4*i : 4*i+4])
		start := time.Now()
		b.paint(0, running(buf.String(), infer.Progress{Generated: i, Rate: 50}))
		b.m.View()
		took = append(took, time.Since(start))
	}
	return took
}

// undisturbed is what one of many things that take the same time takes on a
// machine that does nothing else: one in ten is hardly held up by others.
func undisturbed(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/10]
}

func TestFrameBudget(t *testing.T) {
	b, text := streaming(t, 68<<10, 68<<10)
	tokens := 1000
	if raceEnabled {
		tokens = 200
	}
	perFrame := undisturbed(frames(b, text, tokens))
	t.Logf("%v a frame", perFrame)
	budget := 4 * time.Millisecond // four times the aim, for slow and shared machines
	if raceEnabled {
		budget *= 10
	}
	if perFrame > budget {
		t.Errorf("a frame takes %v, over %v", perFrame, budget)
	}
	b.check()
}

func BenchmarkFrame(b *testing.B) {
	bench, text := streaming(b, 68<<10, 68<<10)
	b.ResetTimer()
	took := frames(bench, text, max(b.N, 1))
	var spent time.Duration
	for _, t := range took {
		spent += t
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(len(took)), "µs/frame")
}

func BenchmarkView(b *testing.B) {
	bench, _ := streaming(b, 68<<10, 68<<10)
	b.ReportAllocs()
	for b.Loop() {
		bench.m.View()
	}
}

// The figures of an answer that is over within one look at the engine are shown,
// and then nothing moves any more.
func TestFiguresOfAShortAnswer(t *testing.T) {
	at := now
	k := &scene{open: []*sketch{talk()}, stats: infer.Stats{Slots: 8}}
	b := newBench(t, k, Settings{}, 80, 24)
	b.m.clock = func() time.Time { return at }
	b.send(frameMsg{})
	at = at.Add(20 * time.Millisecond)
	k.stats.Steps, k.stats.StepP50, k.stats.StepP95 = 17, 650*time.Microsecond, 2*time.Millisecond
	b.send(frameMsg{})
	b.seesNot("0.65")
	if !b.m.frames.ticking {
		t.Fatal("nobody looks again")
	}
	at = at.Add(statsEvery)
	b.send(tickMsg{})
	b.sees("0.65/2 ms")
	if b.m.frames.ticking {
		t.Error("the clock goes on")
	}
}

func TestNothingMovesWhenNothingHappens(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}, stats: infer.Stats{Slots: 8}}, Settings{}, 80, 24)
	ticks := 0
	b.m.after = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(tickMsg); ok {
			ticks++
		}
		return nil
	}
	b.send(frameMsg{})
	b.send(tickMsg{})
	if ticks != 0 || b.m.frames.ticking {
		t.Fatalf("an idle program asked for %d ticks", ticks)
	}
	b.typeText("forever")
	b.press("enter")
	b.send(frameMsg{})
	b.send(frameMsg{})
	if ticks != 1 {
		t.Fatalf("a running answer asked for %d ticks, want one at a time", ticks)
	}
	b.send(tickMsg{})
	if ticks != 2 {
		t.Fatalf("a running answer stopped ticking")
	}
	b.press("esc")
	b.rest()
	b.send(frameMsg{})
	b.send(tickMsg{})
	if ticks != 2 || b.m.frames.ticking {
		t.Errorf("ticks go on after the answer: %d", ticks)
	}
}

func TestRatesSettleAndThenRest(t *testing.T) {
	k := &scene{open: []*sketch{talk()}, stats: busy()}
	b := newBench(t, k, Settings{}, 80, 24)
	when := now
	b.m.clock = func() time.Time { return when }
	later := func(by time.Duration) {
		when = when.Add(by)
		b.send(tickMsg{})
	}
	k.stats.Steps = 10
	later(time.Second)
	if !b.m.frames.ticking {
		t.Fatal("does not tick while the engine works")
	}
	b.sees("84.2 tok/s · 1234 read/s")
	k.stats.Rows, k.stats.Steps = 0, 11 // an answer too short to be seen running
	later(time.Second)
	if !b.m.frames.ticking {
		t.Fatal("does not tick until the rates are zero")
	}
	k.stats = infer.Stats{Slots: 8, Steps: 11}
	later(time.Second)
	if b.m.frames.ticking {
		t.Error("ticks although everything is at rest")
	}
	b.seesNot("84.2")
}

// An answer may be seen before its first step and be over before the next look:
// what was seen of it does not stay.
func TestShortAnswerLeavesNoRates(t *testing.T) {
	k := &scene{open: []*sketch{talk()}, stats: busy()}
	b := newBench(t, k, Settings{}, 80, 24)
	when := now
	b.m.clock = func() time.Time { return when }
	k.stats = infer.Stats{Slots: 8, Steps: 10}
	b.send(frameMsg{})
	when = when.Add(time.Hour)
	b.send(tickMsg{})
	k.stats = infer.Stats{Slots: 8, Steps: 10, Rows: 1, RowsInStep: 1, DecodeRate: 78.4} // of the one before
	when = when.Add(time.Second)
	b.send(frameMsg{})
	b.sees("78.4 tok/s")
	k.stats = infer.Stats{Slots: 8, Steps: 47}
	when = when.Add(statsEvery / 2)
	b.send(frameMsg{}) // the last one, too early for other figures
	if !b.m.frames.ticking {
		t.Fatal("nothing will look at the figures again")
	}
	when = when.Add(statsEvery)
	b.send(tickMsg{})
	b.sees("decode 0.0 tok/s · rows 0 of 8")
}

func TestUnfocusedWindow(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{Bell: true}, 80, 24)
	b.typeText("forever")
	b.press("enter")
	if got := b.m.frameInterval(); got > 34*time.Millisecond || got < 33*time.Millisecond {
		t.Errorf("a frame every %v", got)
	}
	b.send(tea.BlurMsg{})
	if got := b.m.frameInterval(); got != 100*time.Millisecond {
		t.Errorf("a frame every %v without focus", got)
	}
	b.send(frameMsg{})
	d := b.m.tab().d
	d.Stop()
	for d.View().Live != nil {
		time.Sleep(time.Millisecond)
	}
	b.raw = nil
	b.send(frameMsg{})
	if len(b.raw) != 1 || b.raw[0] != tea.Msg(tea.RawMsg{Msg: "\a"}) {
		t.Errorf("the end of an answer rang %v", b.raw)
	}
	if !b.m.tab().unread {
		t.Error("the answer is not marked as unread")
	}
	b.send(tea.FocusMsg{})
	if b.m.tab().unread {
		t.Error("the answer is unread although it is seen")
	}
}
