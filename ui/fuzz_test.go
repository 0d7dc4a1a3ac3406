package ui

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/uitest"
)

// A chaos sends random messages.
type chaos struct {
	*bench
	r     *rand.Rand
	names []string // of keys
}

var scraps = []string{
	"a", "word ", "日本語", "é", "e\u0301", "👩‍👩‍👧", "\n", "\t", "```\n", "# ", "- x\n", "| a | b |\n|--|--|\n", "\\", "/", "/te", "[x](y)", "<think>", "</think>",
	"\x1b[31m", "\x00", "\ufffd", "\u202e", strings.Repeat("long", 60), strings.Repeat("wide文", 40), "\n\n", "\r\n",
}

func newChaos(t *testing.T, seed uint64) *chaos {
	k := three()
	k.open[0] = talk()
	k.stored = []turn.Conversation{{ID: 7, Title: "Stored"}, {ID: 8}, {ID: 1, Title: "Open"}}
	k.stats = busy()
	c := &chaos{bench: newBench(t, k, Settings{Mouse: true}, 80, 24), r: rand.New(rand.NewPCG(seed, 1))}
	all := keys.Default()
	for _, a := range keys.Actions() {
		if a.ID == keys.Quit || a.ID == keys.Interrupt || a.ID == keys.Editor {
			continue // these leave the program
		}
		for _, name := range all.Keys(a.ID) {
			if name != "ctrl+c" {
				c.names = append(c.names, name)
			}
		}
	}
	return c
}

func (c *chaos) scrap() string { return scraps[c.r.IntN(len(scraps))] }

// step does one random thing.
func (c *chaos) step() {
	switch c.r.IntN(12) {
	case 0:
		c.send(tea.WindowSizeMsg{Width: 1 + c.r.IntN(160), Height: 1 + c.r.IntN(60)})
	case 1, 2, 3:
		c.send(c.key(c.names[c.r.IntN(len(c.names))]))
	case 4, 5:
		text := c.scrap()
		r := []rune(text)
		c.send(tea.KeyPressMsg{Code: r[0], Text: text})
	case 6:
		c.send(tea.PasteMsg{Content: strings.Repeat(c.scrap(), 1+c.r.IntN(400))})
	case 7, 8:
		c.talk()
		c.send(frameMsg{})
	case 9:
		c.mouse()
	case 10:
		c.send([]tea.Msg{
			tickMsg{},
			tea.FocusMsg{},
			tea.BlurMsg{},
			c.m.endNotice(c.r.IntN(9)),
			settingsMsg{Theme: "rook", Mouse: true},
			settingsMsg{Theme: "none"},
			settingsMsg{Appearance: "light", Mouse: true},
		}[c.r.IntN(7)])
	case 11:
		c.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	}
}

func (c *chaos) key(name string) tea.KeyPressMsg { return uitest.Key(c.t, name) }

func (c *chaos) mouse() {
	m := tea.Mouse{X: c.r.IntN(170) - 2, Y: c.r.IntN(62) - 2, Button: []tea.MouseButton{tea.MouseLeft, tea.MouseMiddle, tea.MouseRight}[c.r.IntN(3)]}
	switch c.r.IntN(4) {
	case 0:
		c.send(tea.MouseClickMsg(m))
	case 1:
		c.send(tea.MouseMotionMsg(m))
	case 2:
		c.send(tea.MouseReleaseMsg(m))
	case 3:
		m.Button = []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown, tea.MouseWheelLeft}[c.r.IntN(3)]
		c.send(tea.MouseWheelMsg(m))
	}
}

// talk changes some dialogue, or what is seen of it.
func (c *chaos) talk() {
	i := c.r.IntN(len(c.m.tabs))
	d := c.m.tabs[i].d
	switch c.r.IntN(8) {
	case 0, 1:
		d.Stop()
	case 2:
		c.paint(i, func(v *chat.View) { v.Err = errors.New("failed: " + c.scrap()) })
	case 3:
		c.paint(i, func(v *chat.View) { v.Loading = true })
	case 4, 5:
		var text string
		for range c.r.IntN(20) {
			text += c.scrap()
		}
		c.paint(i, running(text, infer.Progress{Generated: len(text), Rate: c.r.Float64() * 100}))
	default:
		_ = d.Send(strings.Repeat(c.scrap(), c.r.IntN(300))) // an answer may be running
	}
}

func TestChaos(t *testing.T) {
	t.Chdir(t.TempDir()) // what it says may be an export
	steps := 1000
	if raceEnabled {
		steps = 200
	}
	for seed := range uint64(3) {
		c := newChaos(t, seed)
		for range steps {
			c.step()
			c.check()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}
