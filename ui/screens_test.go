package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

const answerText = `Here is a **plan** with ` + "`code`" + ` and 中文字符:

1. Feed the rook.
2. Count the nests, all of them, and write down how many there are, so that nothing is forgotten.

` + "```go" + `
func main() {
	println("caw")
}
` + "```" + `

That is all.`

// talk is a conversation with a bit of everything.
func talk() *sketch {
	d := newSketch(1, "Feeding the rook")
	d.say(turn.RoleUser, "How do I feed a rook?\nBriefly, please.")
	question := d.conversation.Head
	d.beside(question, turn.RoleAssistant, "The first try.")
	d.say(turn.RoleAssistant, "<think>\nRooks eat almost anything. Keep it short.\n</think>\n"+answerText)
	d.beside(question, turn.RoleAssistant, "The third try.")
	d.say(turn.RoleUser, "And a raven?")
	t := d.say(turn.RoleAssistant, "The same, but more of")
	t.Open, t.Reason = true, infer.ReasonCancelled
	return d
}

func busy() infer.Stats {
	return infer.Stats{
		Backend: "cpu, 2 threads, int8", Rows: 2, RowsInStep: 2, Slots: 8, DecodeRate: 84.2, PrefillRate: 1234, StepP50: 21 * time.Millisecond,
		StepP95: 25500 * time.Microsecond, Memory: infer.Memory{Weights: 180 << 20, States: 20 << 20}, SnapshotBytes: 12 << 20,
	}
}

// screens are the states of the program that are compared with what they were.
var screens = []struct {
	name      string
	workspace func() *scene
	do        func(b *bench)
}{
	{"empty", func() *scene { return &scene{} }, func(b *bench) {}},
	{"opening", func() *scene { return &scene{} }, func(b *bench) {
		b.m.tabs = []*tab{b.m.openTab(nil)}
		b.m.active = 0
		b.send(tickMsg{})
	}},
	{"conversation", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) {}},
	{"conversation from the top", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) { b.press("ctrl+home", "alt+h") }},
	{"messages", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) { b.press("tab", "up") }},
	{"reading", func() *scene { return &scene{open: []*sketch{talk()}, stats: busy()} }, func(b *bench) {
		b.paint(0, asking("Read this book."), running("", infer.Progress{Read: 1024, ToRead: 4096}))
	}},
	{"generating", func() *scene {
		return &scene{open: []*sketch{talk(), newSketch(2, "Another chat"), newSketch(3, "A third one")}, active: 1, stats: busy()}
	}, func(b *bench) {
		b.paint(0, running("Ravens", infer.Progress{Generated: 2, Rate: 41.7}))
		b.paint(1, asking("Think!"), running("<think>\nWell, let me see", infer.Progress{Generated: 7, Rate: 42.5}))
		b.m.tabs[2].unread = true
	}},
	{"many tabs", func() *scene {
		k := &scene{active: 6}
		for i := range 14 {
			k.open = append(k.open, newSketch(turn.ID(i+1), fmt.Sprintf("Conversation number %d", i+1)))
		}
		return k
	}, func(b *bench) {}},
	{"prompt of several lines", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) {
		b.typeText("first line")
		b.press("shift+enter")
		b.typeText("second line, 日本語 in it")
		b.send(tea.PasteMsg{Content: strings.Repeat("pasted\r\n", 14000)})
	}},
	{"commands of a slash", func() *scene { return &scene{} }, func(b *bench) {
		b.typeText("/t")
		b.press("down")
	}},
	{"palette", func() *scene { return &scene{} }, func(b *bench) {
		b.press("ctrl+p")
		b.typeText("copy")
	}},
	{"help", func() *scene { return &scene{} }, func(b *bench) { b.press("f1") }},
	{"conversations", func() *scene {
		return &scene{open: []*sketch{talk()}, stored: []turn.Conversation{
			{ID: 1, Title: "Feeding the rook", Updated: now},
			{ID: 2, Title: "A story about a dog", Updated: now.Add(-3 * time.Hour)},
			{ID: 3, Updated: now.Add(-1000 * time.Hour)},
		}}
	}, func(b *bench) { b.press("ctrl+o", "down") }},
	{"deletion", func() *scene {
		return &scene{stored: []turn.Conversation{{ID: 2, Title: "A story about a dog", Updated: now}}}
	}, func(b *bench) { b.press("ctrl+o", "ctrl+x", "tab", "tab", "ctrl+x") }},
	{"system prompt", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) {
		b.press("alt+s")
		b.typeText("You are a rook.")
	}},
	{"search", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) {
		b.press("ctrl+f")
		b.typeText("ROOK")
	}},
	{"sampling panel", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) { b.press("ctrl+s", "down") }},
	{"error", func() *scene { return &scene{open: []*sketch{talk()}} }, func(b *bench) {
		b.paint(0, func(v *chat.View) {
			v.Err = errors.New("writing the turn to /home/you/rookery.db: no space left on device; free some and send again")
		})
		b.typeText("/nothing")
		b.press("enter")
	}},
}

// asking adds a prompt to a view.
func asking(text string) func(*chat.View) {
	return func(v *chat.View) {
		v.Turns = append(v.Turns, turn.Turn{ID: 1<<40 - 1, Role: turn.RoleUser, Text: text})
		v.Siblings = append(v.Siblings, chat.Siblings{N: 1, Of: 1})
	}
}

var sizes = []struct{ width, height int }{{80, 24}, {120, 40}, {40, 12}, {200, 60}}

func TestScreens(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			var all strings.Builder
			for _, size := range sizes {
				b := newBench(t, s.workspace(), Settings{}, size.width, size.height)
				s.do(b)
				b.check()
				v := b.m.View()
				fmt.Fprintf(&all, "=== %dx%d", size.width, size.height)
				if v.Cursor != nil {
					fmt.Fprintf(&all, ", cursor at %d,%d", v.Cursor.X, v.Cursor.Y)
				}
				all.WriteString("\n")
				for _, line := range strings.Split(b.screen(), "\n") {
					all.WriteString(strings.TrimRight(line, " ") + "\n")
				}
			}
			golden.RequireEqual(t, all.String())
		})
	}
}

func TestScreenTooSmall(t *testing.T) {
	for _, size := range []struct{ width, height int }{{1, 1}, {10, 3}, {39, 24}, {80, 9}} {
		b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, size.width, size.height)
		b.check()
		b.press("ctrl+p", "esc", "pgup", "a")
		b.check()
		if size.width >= 39 {
			b.sees("too small")
		}
		b.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		b.sees("Feeding the rook")
	}
}

func TestViewBeforeTheSizeIsKnown(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 0, 0)
	if content := b.m.View().Content; content != "" {
		t.Errorf("drew %q on a screen of unknown size", content)
	}
	b.press("ctrl+p", "tab", "up", "enter")
	b.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.check()
}
