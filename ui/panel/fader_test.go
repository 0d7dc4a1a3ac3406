package panel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/infer/adapter"
	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// slowly lets a program load adapters as slowly as from a disk that sleeps, and some
// not at all.
func (p program) slowly(d time.Duration, broken ...string) {
	p.Workspace.UseAdapters(func(ctx context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
		time.Sleep(d)
		if slices.Contains(broken, name) {
			return nil, errors.New("the disk is full of feathers")
		}
		return scripted.OpenAdapter(ctx, path, name, o)
	}, scripted.Adapters)
}

// openSinging shows the panel beside an answer that does not end. Steps are slow, and
// so are loads.
func openSinging(t *testing.T, load time.Duration, broken ...string) program {
	t.Helper()
	p := open(t, 80, 24, func(w *uitest.Options, _ *ui.Options) {
		w.Adapted, w.Answers, w.Step = true, []scripted.Answer{{Prompt: "Sing", Text: strings.Repeat(" caw", 4000)}}, 50*time.Millisecond
	})
	p.slowly(load, broken...)
	p.Enter("Sing")
	p.Press("f10")
	p.Pass(2 * time.Second)
	if p.chat.View().Live == nil {
		t.Fatal("no answer runs")
	}
	return p
}

// at presses keys so many times a second.
func (p program) at(t *testing.T, rate int, names ...string) {
	for _, name := range names {
		p.Send(uitest.Key(t, name))
		p.Pass(time.Second / time.Duration(rate))
	}
}

// settle lets all loads end and checks that panel, conversation and the running
// answer have the same adapter.
func (p program) settle(t *testing.T, want, shown string) {
	t.Helper()
	p.Pass(5 * time.Second)
	if p.used() != want {
		t.Errorf("the conversation uses %q, want %q", p.used(), want)
	}
	if v := p.chat.View(); v.Live != nil && v.Live.Turn.Adapter != want {
		t.Errorf("the running answer uses %q, want %q", v.Live.Turn.Adapter, want)
	}
	list, err := p.Workspace.Adapters().List(t.Context())
	uitest.Must(t, err)
	for _, a := range list {
		if a.Loaded != nil && a.Loaded.Rows > 0 && a.Title() != want {
			t.Errorf("the engine runs %q, want %q", a.Title(), want)
		}
	}
	if screen := strings.Join(strings.Fields(p.Screen()), " "); !strings.Contains(screen, shown) || strings.Contains(screen, "loading") {
		t.Errorf("the panel does not show %q:\n%s", shown, p.Screen())
	}
}

// The last key counts, however long the loads before it take, and the panel shows
// what the engine runs.
func TestTheLastKeyOfTheFaderCounts(t *testing.T) {
	left := slices.Repeat([]string{"left"}, 10)
	for name, c := range map[string]struct {
		rate int // keys a second; 0: all at once
		keys []string
		used string
		line string // of the panel
	}{
		"ten left at once":    {0, append([]string{"down", "down", "enter"}, left...), "", "* quill 0.00"},
		"ten left":            {30, append([]string{"down", "down", "enter"}, left...), "", "* quill 0.00"},
		"nine left":           {30, append([]string{"down", "down", "enter"}, left[:9]...), "quill × 0.1", "* quill 0.10"},
		"there and back":      {30, append([]string{"down", "down", "enter"}, slices.Concat(left, []string{"right", "right"})...), "quill × 0.2", "* quill 0.20"},
		"none meanwhile":      {0, []string{"down", "down", "enter", "left", "left", "left", "up", "up", "enter"}, "", "* none"},
		"another one":         {0, []string{"down", "down", "enter", "left", "up", "enter"}, "plume", "* plume 1.00"},
		"none, and it again":  {0, []string{"down", "down", "enter", "up", "up", "enter", "down", "down", "enter"}, "quill", "* quill 1.00"},
		"full after nothing":  {30, []string{"down", "down", "enter", "0", "1", "0", "1"}, "quill", "* quill 1.00"},
		"strong while loaded": {7, []string{"down", "down", "enter", "right", "right", "left"}, "quill × 1.1", "* quill 1.10"},
	} {
		t.Run(name, func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				p := openSinging(t, 300*time.Millisecond)
				if c.rate > 0 {
					p.at(t, c.rate, c.keys...)
				} else {
					for _, k := range c.keys {
						p.Send(uitest.Key(t, k))
					}
				}
				p.settle(t, c.used, c.line)
			})
		})
	}
}

// A command that ends the adapter is not undone by a load that ran when it came.
func TestAdapterOffDuringALoad(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openAdapted(t)
		p.slowly(2 * time.Second)
		p.Enter("/adapter quill")
		p.Enter("/adapter off")
		p.Sees("no adapter, from the next token on")
		p.Pass(5 * time.Second)
		if p.used() != "" {
			t.Errorf("uses %q", p.used())
		}
	})
}

// Thirty keys a second for five seconds, up and down, on a backend that is slower than
// the keys: the fader ends where the last key left it, and no more is loaded than
// time allows.
func TestFaderUnderManyKeys(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openSinging(t, 250*time.Millisecond)
		p.Press("down", "down", "enter")
		var keys []string
		for i := range 150 {
			keys = append(keys, []string{"left", "left", "left", "right", "left", "right", "right"}[i%7])
		}
		p.at(t, 30, keys...)
		strength := 10
		for _, k := range keys {
			if k == "left" {
				strength = max(0, strength-1)
			} else {
				strength = min(20, strength+1)
			}
		}
		want := fmt.Sprintf("%d.%d", strength/10, strength%10)
		title := "quill × " + strings.TrimSuffix(want, ".0")
		if strength == 0 {
			title = ""
		}
		p.settle(t, title, "* quill "+want+"0")
	})
}

// A strength that cannot be loaded is not shown: the slider goes back to what runs.
// What else was asked for while a load ran is done too.
func TestFaderAfterAnError(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openSinging(t, 300*time.Millisecond, "plume")
		p.Press("down", "down", "enter", "left", "left")
		p.settle(t, "quill × 0.8", "* quill 0.80")
		p.Press("up", "enter")
		p.Await("full of feathers")
		p.settle(t, "quill × 0.8", "* quill 0.80")
		p.Press("down")
		for _, k := range []string{"left", "x", "left"} {
			p.Send(uitest.Key(t, k))
		}
		p.settle(t, "quill × 0.6", "* quill 0.60")
		p.Send(uitest.Key(t, "right"), uitest.Key(t, "d"), uitest.Key(t, "right"))
		p.Await("in use by")
		p.settle(t, "quill × 0.8", "* quill 0.80")
	})
}
