package panel

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"rookery/infer/sampler"
	"rookery/ui/kit"
)

// What a sampling panel asks for.
type (
	sampleWith struct {
		Params sampler.Params
		Preset string
	}
	closed struct{}
)

// wish does something to a panel and returns what it asks for, which is granted,
// as the program would; nil is nothing.
func wish(s *Sampling, do func() kit.Action) (asked any) {
	s.set = func(p sampler.Params, preset string) kit.Action {
		asked = sampleWith{p, preset}
		return toPrompt
	}
	a := do()
	if set, ok := asked.(sampleWith); ok {
		s.Set(set.Params, set.Preset)
	} else if a != nil {
		return closed{}
	}
	return asked
}

// press gives keys to a panel and returns what it asks for last.
func press(s *Sampling, keys ...string) (last any) {
	for _, k := range keys {
		if a := wish(s, func() kit.Action { a, _ := s.HandleKey(key(k)); return a }); a != nil {
			last = a
		}
	}
	return last
}

// to is the way from the first row to the one with a name.
func to(name string, then ...string) []string {
	var keys []string
	for _, f := range sampler.Fields {
		keys = append(keys, "down")
		if f.Name == name {
			break
		}
	}
	return append(keys, then...)
}

func TestSamplingKeys(t *testing.T) {
	base := presets[0].Sampling
	base.Ban = []int32{5, 77}
	with := func(change func(p *sampler.Params)) sampler.Params {
		p := base
		change(&p)
		return p
	}
	for _, c := range []struct {
		name string
		keys []string
		want any
	}{
		{"temperature, a fine step", to("temperature", "right"), sampleWith{with(func(p *sampler.Params) { p.Temperature = 1.05 }), ""}},
		{"temperature, a coarse step down", to("temperature", "shift+left"), sampleWith{with(func(p *sampler.Params) { p.Temperature = 0.75 }), ""}},
		{"temperature has a lower end", to("temperature", strings.Fields("[ [ [ [ [ [")...), sampleWith{with(func(p *sampler.Params) { p.Temperature = 0 }), ""}},
		{"top_p, typed", to("top_p", "0", ".", "8", "5", "enter"), sampleWith{with(func(p *sampler.Params) { p.TopP = 0.85 }), ""}},
		{"back to what it was is the preset again", to("top_p", "right", "left"), sampleWith{base, "chat"}},
		{"top_k, coarse", to("top_k", "]", "]", "left"), sampleWith{with(func(p *sampler.Params) { p.TopK = 19 }), ""}},
		{"presence may be negative", to("presence", "-", "enter", "-", "1", "enter"), sampleWith{with(func(p *sampler.Params) { p.Presence = -1 }), ""}},
		{"decay", to("decay", "h"), sampleWith{with(func(p *sampler.Params) { p.Decay = 0.995 }), ""}},
		{"seed, typed in full", to("seed", strings.Split("18446744073709551615", "")...), nil},
		{
			"seed, taken", append(to("seed", strings.Split("18446744073709551615", "")...), "enter"),
			sampleWith{with(func(p *sampler.Params) { p.Seed = 18446744073709551615 }), "chat"},
		},
		{"seed, kept", to("seed", "enter"), sampleWith{with(func(p *sampler.Params) { p.Seed = 4711 }), "chat"}},
		{"seed, kept and fresh again", to("seed", "enter", "enter"), sampleWith{base, "chat"}},
		{"mode", to("mode", "left"), sampleWith{with(func(p *sampler.Params) { p.Mode = sampler.ModeRapid }), ""}},
		{"bans, cleared", to("ban", "delete"), sampleWith{with(func(p *sampler.Params) { p.Ban = nil }), "chat"}},
		{"preset, the next", []string{"right"}, sampleWith{with(func(p *sampler.Params) {
			*p = presets[1].Sampling
			p.Ban = base.Ban
		}), "greedy"}},
		{"preset, one that equals another", []string{"left"}, sampleWith{base, "twin"}},
		{"reset", to("temperature", "right", "right", "down", "right", "r"), sampleWith{base, "chat"}},
		{"close", []string{"esc"}, closed{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSampling(t)
			s.lastSeed = 4711
			if d := cmp.Diff(c.want, press(s, c.keys...)); d != "" {
				t.Error(d)
			}
		})
	}
}

// What was typed wrong is said, changes nothing, and can be mended.
func TestSamplingTypo(t *testing.T) {
	s := testSampling(t)
	s.SetSize(60, 24)
	if a := press(s, to("top_p", "1", ".", "5", "enter")...); a != nil {
		t.Fatalf("a top_p of 1.5 is asked for: %+v", a)
	}
	if drawn := ansi.Strip(s.Draw()); !strings.Contains(drawn, "top_p must be between 0 and 1") {
		t.Errorf("the reason is not shown:\n%s", drawn)
	}
	a := press(s, "backspace", "backspace", "enter")
	if set, ok := a.(sampleWith); !ok || set.Params.TopP != 1 {
		t.Errorf("the mended number gives %+v", a)
	}
	if a := press(s, "0", ".", ".", "enter", "esc"); a != nil || s.typing {
		t.Errorf("escape leaves %+v, typing %v", a, s.typing)
	}
}

// Keys without use are left to the program.
func TestSamplingLeavesKeys(t *testing.T) {
	s := testSampling(t)
	for _, k := range []string{"x", "ö", "7"} { // no number fits a preset
		if a, taken := s.HandleKey(key(k)); taken || a != nil {
			t.Errorf("%q is taken", k)
		}
	}
}

// A panel must not change parameters that others hold.
func TestSamplingDoesNotShareBans(t *testing.T) {
	s := testSampling(t)
	held := s.params.Ban
	a := press(s, to("temperature", "right")...).(sampleWith)
	a.Params.Ban[0] = 999
	if held[0] != 5 {
		t.Error("the ban list of the action is that of the conversation")
	}
}

// Every number that the arrows reach is one that the sampler takes.
func TestStepsAreValid(t *testing.T) {
	for i := range testSampling(t).rows {
		for _, k := range []string{"left", "right", "shift+left", "shift+right"} {
			s := testSampling(t)
			s.at = i
			for range 300 {
				if set, ok := press(s, k).(sampleWith); ok {
					if err := set.Params.Validate(); err != nil {
						t.Fatalf("%s, %s: %v", s.rows[i].name, k, err)
					}
				}
			}
		}
	}
}

// A moved parameter changes the candidates at once, without another prospect.
func TestSamplingCandidatesFollowTheParameters(t *testing.T) {
	s := testSampling(t)
	s.SetSize(80, 30)
	kept := func() (n int) {
		for line := range strings.Lines(ansi.Strip(s.Draw())) {
			if strings.Contains(line, `"`) && !strings.Contains(strings.TrimRight(line, " \n"), " -") {
				n++
			}
		}
		return n
	}
	if n := kept(); n != 1 {
		t.Fatalf("a top_p of 0.3 keeps %d candidates:\n%s", n, ansi.Strip(s.Draw()))
	}
	press(s, to("top_p", "shift+right", "shift+right", "shift+right", "shift+right")...)
	if n := kept(); n != 2 {
		t.Errorf("a top_p of 0.7 keeps %d candidates:\n%s", n, ansi.Strip(s.Draw()))
	}
	s.SetProspect(nil, false)
	if n := kept(); n != 0 {
		t.Errorf("without a prospect %d candidates are left", n)
	}
}

func TestSamplingMouse(t *testing.T) {
	s := testSampling(t)
	s.SetSize(60, 24)
	seed := len(to("seed"))
	click := func(x, y int) (got sampleWith) {
		got, _ = wish(s, func() kit.Action { return s.Press(x, y) }).(sampleWith)
		return got
	}
	if a := click(3, 1); a.Params.Temperature != 0 || s.at != 1 {
		t.Errorf("a click on a name asks for %+v and chooses row %d", a, s.at)
	}
	if a := click(barAt, 2); a.Params.TopP != 0 || s.at != 2 {
		t.Errorf("a click on the left end gives %+v, row %d", a, s.at)
	}
	if a := click(58, 2); a.Params.TopP != 1 {
		t.Errorf("a click on the right end gives %+v", a)
	}
	if a := click((barAt+58)/2, 1); a.Params.Temperature < 0.9 || a.Params.Temperature > 1.1 {
		t.Errorf("a click in the middle gives %+v", a)
	}
	if a, ok := wish(s, func() kit.Action { return s.Drag(barAt, 17) }).(sampleWith); !ok || a.Params.Temperature != 0 {
		t.Errorf("dragged to the left end it gives %+v", a)
	}
	s.Release()
	if a := s.Drag(barAt+9, 1); a != nil {
		t.Error("released, it goes on")
	}
	if a := click(3, seed); a.Params.TopP != 0 {
		t.Errorf("one click on the seed gives %+v", a)
	}
	if a := click(3, seed); a.Params.Seed != 1 {
		t.Errorf("another click on the seed gives %+v", a)
	}
	for _, at := range [][2]int{{-1, 3}, {60, 3}, {3, -1}, {3, 20}, {3, 200}} {
		if a := s.Press(at[0], at[1]); a != nil || s.at != seed {
			t.Errorf("a click on %v asks for something, row %d", at, s.at)
		}
	}
	s.Wheel(50)
	if s.at != len(s.rows)-1 {
		t.Errorf("the wheel chooses row %d", s.at)
	}
	s.Wheel(-50)
	if s.at != 0 {
		t.Errorf("the wheel chooses row %d", s.at)
	}
}
