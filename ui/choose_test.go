package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

// best puts a choice of answers into a fake.
func (d *fakeDialogue) choice(n int, ended bool) {
	d.v.Alternatives = nil
	for i := range n {
		text := fmt.Sprintf("row %d says %s", i, strings.Repeat("some words ", 3*i+1))
		t := turn.Turn{ID: turn.ID(500 + i), Role: turn.RoleAssistant, Text: text}
		t.Sampling.Seed = uint64(90 + i)
		d.v.Alternatives = append(d.v.Alternatives, chat.Alternative{Live: chat.Live{Turn: t, Text: text, Progress: infer.Progress{Generated: 10 + i, Rate: 5}}, Ended: ended})
	}
	d.v.Version++
}

func TestGrid(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 10}} {
		for _, n := range []int{2, 4, 8} {
			t.Run(fmt.Sprint(size, n), func(t *testing.T) {
				d := lecture(1)
				b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, size[0], size[1])
				b.typeText(fmt.Sprintf("/best %d", n))
				b.press("enter")
				b.did(fmt.Sprintf("best %d", n))
				b.check()
				d.choice(n, false)
				b.send(frameMsg{})
				b.check()
				b.sees(fmt.Sprintf("Best of %d", n))
				b.sees("row 0 says")
				b.press("2")
				b.sees("2* 11 tokens")
				b.clickEach(n)
				b.check()
				b.press("1", "1", "left", "right", "up", "down")
				b.check()
				b.press("esc")
				b.did("stop")
				d.choice(n, true)
				b.send(frameMsg{})
				b.press("enter")
				if last := d.calls[len(d.calls)-1]; !strings.Contains(last, "501") || !strings.HasSuffix(last, "false") {
					t.Errorf("asked for %q", last)
				}
				b.check()
			})
		}
	}
}

// clickEach clicks every answer of a grid that can be seen, and leaves the second
// one chosen.
func (b *bench) clickEach(n int) {
	b.t.Helper()
	g := b.m.dialogs[0].(*grid)
	for _, i := range []int{0, n - 1, n / 2, 1} {
		for y, line := range strings.Split(b.screen(), "\n") {
			before, _, found := strings.Cut(line, fmt.Sprintf("%d tokens", 10+i))
			if !found {
				continue
			}
			b.send(tea.MouseClickMsg{X: ansi.StringWidth(before), Y: y, Button: tea.MouseLeft})
			if g.at() != i {
				b.t.Errorf("a click on answer %d went to %d:\n%s", i+1, g.at()+1, b.screen())
			}
		}
	}
}

func TestGridChoices(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"the focused one":    {[]string{"enter"}, "keep [500] false"},
		"another one":        {[]string{"right", "enter"}, "keep [501] false"},
		"drop the rest":      {[]string{"3", "ctrl+x"}, "keep [502] true"},
		"several":            {[]string{"1", "3", "space", "space", "1", "4", "ctrl+x"}, "keep [503 502] true"},
		"closed when ended":  {[]string{"right", "esc"}, "keep [501] false"},
		"a number too large": {[]string{"9", "enter"}, "keep [500] false"},
	} {
		t.Run(name, func(t *testing.T) {
			d := lecture(1)
			b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 120, 40)
			d.choice(4, true)
			b.send(frameMsg{})
			b.press("alt+shift+r") // shows the choice that waits
			b.press(c.keys...)
			b.did(c.want)
		})
	}
}

func TestBestOfWhatIsWritten(t *testing.T) {
	d := lecture(1)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.typeText("a new prompt")
	b.press("alt+shift+r")
	b.did(`best "a new prompt" 4`)
	b.press("esc")
	b.typeText("/best 12")
	b.press("enter")
	b.sees("choose from 2 to 8")
}
