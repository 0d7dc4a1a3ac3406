package panel

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/infer"

	"rookery/ui/theme"
)

func sadMix() turn.Mix {
	return turn.Mix{Own: turn.MixMember{Weight: 1}, Others: []turn.MixMember{{State: 2001, Name: "demo-sad", Weight: 0.5}}}
}

// A heated strip drives a strip on a screen of some size.
type heated struct {
	*heat
	t             *testing.T
	th            theme.Theme
	width, height int
}

// newHeated is about an answer that was drawn from a mix with a state.
func newHeated(t *testing.T, tokens, width, height int) heated {
	t.Helper()
	var drawn []infer.Token
	for i := range tokens {
		push := []float32{-2, -0.5, -0.1, 0, 0.1, 0.5, 2}[i%7] // of the state; this chat's is opposite
		drawn = append(drawn, infer.Token{ID: int32(100 + i), LogProb: -3, MemberLogprobs: []float32{-3 - push, -3 + push}})
	}
	s := heated{&heat{}, t, testTheme(t), width, height}
	s.show(turn.Turn{ID: 4, Mix: sadMix()}, drawn)
	return s
}

// screen is the strip without styles, and has the lines and the width that it says.
func (s heated) screen() string {
	s.t.Helper()
	lines := s.Draw(s.th, s.width, s.height)
	if len(lines) != s.Rows(s.width, s.height) {
		s.t.Fatalf("%d lines of %d", len(lines), s.Rows(s.width, s.height))
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > s.width {
			s.t.Fatalf("%d wide on a screen of %d: %q", ansi.StringWidth(l), s.width, l)
		}
	}
	return ansi.Strip(strings.Join(lines, "\n"))
}

func (s heated) sees(text string) {
	s.t.Helper()
	if !strings.Contains(s.screen(), text) {
		s.t.Errorf("%q is not shown:\n%s", text, s.screen())
	}
}

// focus gives the strip the keyboard.
func (s heated) focus() heated {
	s.focused, s.at = true, len(s.tokens)-1
	return s
}

func (s heated) press(names ...string) heated {
	for _, name := range names {
		s.HandleKey(key(name))
	}
	return s
}

func TestHeatStripShowsWhatPushed(t *testing.T) {
	s := newHeated(t, 7, 80, 24)
	s.sees("this chat █▆▅▄▃▂▁\ndemo-sad  ▁▂▃▄▅▆█")
	s.focus()
	s.sees(`7/7 "106"  mix 5%  o this chat 0.67% (-2.00)  A demo-sad 37% (+2.00)`)
	s.press("home", "right").sees(`2/7 "101"`)
	s.th = s.th.WithGlyphs(theme.ASCIIGlyphs())
	s.sees("demo-sad  .:-=+*#")
}

// Where the figures have letters in place of names, the rows say whose they are.
func TestHeatStripSaysWhoseTheLettersAre(t *testing.T) {
	s := newHeated(t, 7, 64, 24)
	s.sees("this chat █▆▅▄▃▂▁\ndemo-sad  ▁▂▃▄▅▆█")
	s.focus().sees("o this c… █▆▅▄▃▂▁\nA demo-s… ▁▂▃▄▅▆█")
	s.sees(`o 0.67% (-2.00)  A 37% (+2.00)`)
	s.press("home", "right", "right", "right").sees(`o 5% (0.00)  A 5% (0.00)`)
}

// Narrow and low screens have one row with the letter of the likeliest state.
func TestHeatStripFits(t *testing.T) {
	for _, size := range [][2]int{{50, 24}, {80, 16}} {
		s := newHeated(t, 7, size[0], size[1])
		s.sees("pushed    oooo")
		s.sees("AAA")
		s.focus().screen()
	}
	if s := newHeated(t, 7, 80, 12); s.screen() != "" {
		t.Errorf("a low screen shows %q", s.screen())
	}
	for _, w := range []int{40, 60, 61, 200} {
		for _, h := range []int{10, 14, 20, 60} {
			newHeated(t, 1000, w, h).focus().press("ctrl+left", "home").screen()
		}
	}
}

func TestHeatStripScrolls(t *testing.T) {
	s := newHeated(t, 1000, 80, 24)
	row := func() []rune {
		_, row, _ := strings.Cut(s.screen(), "demo-sad  ")
		row, _, _ = strings.Cut(row, "\n")
		return []rune(row)
	}
	if r := row(); string(r[len(r)-1]) != pushes[true][999%7] {
		t.Errorf("the newest token is not at the right: %q", string(r))
	}
	s.focus().press("home").sees("1/1,000")
	if !strings.HasPrefix(string(row()), "▁▂▃") {
		t.Errorf("the first token is not in sight: %q", string(row()))
	}
	if gutter, _ := s.columns(80); s.Press(gutter+5, 80) == nil {
		t.Error("a click does nothing")
	}
}

// Tokens of other mixes are left out, and a strip without figures is not there.
func TestHeatStripOfAnotherMix(t *testing.T) {
	s := newHeated(t, 0, 80, 24)
	running := turn.Turn{ID: 5, Mix: sadMix()}
	s.show(running, []infer.Token{{ID: 5, LogProb: -1}, {ID: 6, LogProb: -1, MemberLogprobs: []float32{-1, 1}}})
	s.sees("this chat  ▄\ndemo-sad   █")
	s.focus().press("left").sees("drawn from other states")
	s.show(running, append(s.tokens, infer.Token{ID: 7, LogProb: -1, MemberLogprobs: []float32{-3, -1}}))
	s.sees("this chat  ▄▁\ndemo-sad   █▄")
	s.show(running, nil)
	if s.screen() != "" {
		t.Error("a strip without figures is there")
	}
	if a, taken := s.HandleKey(tea.KeyPressMsg{Code: tea.KeyLeft}); a == nil || taken {
		t.Error("a strip that is gone keeps the keyboard")
	}
}
