package panel

import (
	"math"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

func testMix() turn.Mix {
	return turn.Mix{Own: turn.MixMember{Weight: 1}, Others: []turn.MixMember{
		{State: 2001, Name: "demo-sad", Weight: 0.7}, {State: 2002, Name: "a\x1bstate 鸟", Weight: -0.3}, {State: 2003, Name: "third", Weight: 0},
	}}
}

func testMixer(t testing.TB) *Mixer {
	t.Helper()
	m := NewMixer(testTheme(t))
	m.Set(testMix(), 1234, false)
	m.SetSize(80, 24)
	m.set = func(mix turn.Mix) kit.Action { // what is asked for is granted
		m.Set(mix, 0, false)
		return toPrompt
	}
	return m
}

// asks presses keys, gives the mixer what it asks for, and returns the weights.
func asks(t *testing.T, m *Mixer, keys ...string) turn.Mix {
	t.Helper()
	for _, k := range keys {
		if _, taken := m.HandleKey(key(k)); !taken {
			t.Errorf("no use for %s", k)
		}
	}
	return m.mix
}

func TestMixerKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"down", "right"}, "own=1,demo-sad=0.75,"},
		{[]string{"down", "left", "left"}, "own=1,demo-sad=0.6,"},
		{[]string{"down", "shift+right"}, "own=1,demo-sad=0.75,"},
		{[]string{"down", "ctrl+right", "ctrl+right"}, "own=1,demo-sad=2,"},
		{[]string{"down", "m"}, "own=1,demo-sad=0.7 (mute),"},
		{[]string{"down", "s"}, "own=1,demo-sad=0.7 (solo),"},
		{[]string{"down", "0"}, "own=1,demo-sad=0,"},
		{[]string{"down", "1", ".", "2", "5", "enter"}, "own=1,demo-sad=1.25,"},
		{[]string{"down", "enter", "-", "0", ".", "5", "enter"}, "own=1,demo-sad=-0.5,"},
		{[]string{"down", "3", "esc"}, "own=1,demo-sad=0.7,"},
		{[]string{"down", "x"}, "own=1,a\x1bstate"},
		{[]string{"x"}, "own=1,demo-sad=0.7,"},
		{[]string{"end", "left"}, "third=-0.05"},
		{[]string{"o"}, ""},
		{[]string{"down", "x", "x", "x"}, ""},
	} {
		if got := asks(t, testMixer(t), c.keys...).String(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%v: %q, want %q", c.keys, got, c.want)
		}
	}
}

// What adds up to nothing is refused on the spot and says so.
func TestMixerRefuses(t *testing.T) {
	for name, keys := range map[string][]string{
		"the sum":         {"0", "down", "0"},
		"a solo of zero":  {"end", "s"},
		"the largest":     {"9", "9", "9", "9", "enter"},
		"no number":       {"-", "enter"},
		"this chat":       {"x"},
		"a negative solo": {"down", "down", "s"},
	} {
		m := testMixer(t)
		before := asks(t, m, keys[:len(keys)-1]...)
		after := asks(t, m, keys[len(keys)-1])
		if before.String() != after.String() || m.wrong == "" {
			t.Errorf("%s: %q became %q, and %q was said", name, before, after, m.wrong)
		}
		if !strings.Contains(strings.Join(strings.Fields(ansi.Strip(m.Draw())), " "), strings.Join(strings.Fields(m.wrong), " ")) {
			t.Errorf("%s: %q is not shown:\n%s", name, m.wrong, ansi.Strip(m.Draw()))
		}
	}
}

func TestMixerMouse(t *testing.T) {
	m := testMixer(t)
	x, width := m.barPlace()
	set := func(act kit.Action) float32 {
		t.Helper()
		if act == nil {
			t.Fatalf("asked for nothing; %s", m.wrong)
		}
		return m.member().Weight
	}
	if w := set(m.Press(x+width-1, 1)); m.at != 1 || w < 1.9 {
		t.Errorf("slider %d is %v", m.at, w)
	}
	if w := set(m.Drag(x+width/3, 9)); math.Abs(float64(w)) > 0.06 {
		t.Errorf("a third of the way is %v", w)
	}
	last := float32(2)
	for at := x + width - 1; at > x+1; at-- {
		if act := m.Drag(at, 1); act != nil {
			if w := m.mix.Others[0].Weight; w > last {
				t.Errorf("to the left it grows from %v to %v", last, w)
			} else {
				last = w
			}
		}
	}
	m.Release()
	if act := m.Drag(x+width-1, 1); act != nil {
		t.Error("a released slider moves")
	}
	if act := m.Press(3, 2); act != nil || m.at != 2 {
		t.Errorf("a name that is pressed asks for something, or slider %d is chosen", m.at)
	}
	if act := m.Press(3, 12); act != nil || m.at != 2 {
		t.Errorf("nothing that is pressed asks for something, or chooses %d", m.at)
	}
}

func TestMixerSaysWhatItCosts(t *testing.T) {
	m := testMixer(t)
	text := strings.Join(strings.Fields(ansi.Strip(m.Draw())), " ")
	for _, want := range []string{"4 rows a step", "the next answer reads 1234 tokens again with all of them", "this chat", "71%", "50%", "-21%"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	m.Set(testMix(), 0, true)
	if text = ansi.Strip(m.Draw()); !strings.Contains(text, "the running answer keeps the states") {
		t.Error("does not say that the running answer has other states")
	}
	for name, th := range map[string]theme.Theme{"ascii": testTheme(t).WithGlyphs(theme.ASCIIGlyphs()), "spoken": testTheme(t).WithGlyphs(theme.SpokenGlyphs())} {
		m.SetTheme(th)
		for _, r := range ansi.Strip(m.Draw()) {
			if r > 126 && r != '鸟' {
				t.Errorf("%s: %q is drawn", name, r)
				break
			}
		}
	}
}

func TestMixerListKeys(t *testing.T) {
	m := testMixer(t)
	for _, k := range []string{"a", "p", "w", "esc", "q"} {
		if act, taken := m.HandleKey(key(k)); act == nil || !taken {
			t.Errorf("%s asks for nothing", k)
		}
	}
	if _, taken := m.HandleKey(tea.KeyPressMsg{Code: 'y', Text: "y"}); taken {
		t.Error("takes a key that it has no use for")
	}
	m.Set(turn.Mix{}, 0, false)
	if act, _ := m.HandleKey(key("right")); act != nil {
		t.Error("without a mix right asks for something")
	}
}
