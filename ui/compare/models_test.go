package compare_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"rookery/chat"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// A loader loads other models, and counts those that are there.
type loader struct {
	t    *testing.T
	gate chan struct{} // loading ends when it is closed; nil: at once

	mu     sync.Mutex
	loaded []string
	here   int
}

func loadable(t *testing.T) *loader { return &loader{t: t} }

func (l *loader) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here += n
}

func (l *loader) open(ctx context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
	if path == "torn.pth" {
		return chat.Opened{}, errors.New("torn.pth: its end is missing")
	}
	progress(1, 2)
	if l.gate != nil {
		select {
		case <-l.gate:
		case <-ctx.Done():
			return chat.Opened{}, ctx.Err()
		}
	}
	m := scripted.Model()
	e := infer.NewEngine(m, scripted.New(m, scripted.Options{}), infer.Options{})
	l.mu.Lock()
	l.loaded = append(l.loaded, path)
	l.mu.Unlock()
	l.count(1)
	return chat.Opened{Engine: e, Close: func() error {
		l.count(-1)
		return e.Close()
	}}, nil
}

// holds fails unless so many models are there.
func (l *loader) holds(n int) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.here != n {
		l.t.Errorf("%d models are there, want %d", l.here, n)
	}
}

// script is of a program with the model in use, a small one, one that is too
// big, one that cannot be loaded and one that cannot be run.
func (l *loader) script() script {
	return script{width: 80, height: 24, loads: l.open, models: func(context.Context) ([]ui.ModelFile, error) {
		const free = 4 << 30
		return []ui.ModelFile{
			{Name: "scripted", Current: true, Path: "test.pth", About: "x070", Needs: 1 << 30, Free: free},
			{Name: "small", Path: "small.pth", About: "x070 · 20.0 M", Needs: 3 << 30, Free: free},
			{Name: "big", Path: "big.pth", About: "x070 · 900.0 M", Needs: 2 << 30, Free: free},
			{Name: "torn", Path: "torn.pth", About: "x070", Needs: 1 << 20, Free: free},
			{Name: "old", Path: "old.pth", Problem: "it is an RWKV-4"},
		}, nil
	}}
}

// toModel goes to the cell of the model and chooses the one that matches.
func (g *stage) toModel(name string) {
	g.t.Helper()
	g.Press("left", " ")
	g.Enter(name)
}

func TestCompareAnotherModel(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}} {
		uitest.Run(t, func(t *testing.T) {
			l := loadable(t)
			s := l.script()
			s.width, s.height = size[0], size[1]
			g := raise(t, s)
			g.Press("f12")
			g.toModel("small")
			g.Press("enter")
			g.Check()
			g.Sees("Load another model?")
			if size[0] > 40 {
				g.Sees("small 3.2 GB")
			}
			l.holds(0)
			g.Press("enter")
			g.Sees("2 answers side by side")
			if m := g.alternatives()[0].Variant.Model; m == nil || m.Path() != "small.pth" {
				t.Errorf("the first variant is of %v", m)
			}
			g.finish()
			l.holds(1)
			g.Press("a") // with the model that is there
			g.finish()
			if len(l.loaded) != 1 {
				t.Errorf("loaded %q", l.loaded)
			}
			g.Press("enter")
			g.Pass(time.Second)
			l.holds(0)
		})
	}
}

func TestModelsThatCannotBeCompared(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := loadable(t)
		g := raise(t, l.script())
		g.Press("f12")
		g.toModel("old")
		g.Sees("it is an RWKV-4")
		g.Press(" ")
		g.Enter("small")
		g.Press("down", " ")
		g.Enter("big")
		g.Press("enter")
		g.Sees("that does not fit into the 4.3 GB")
		g.Press(" ")
		g.Enter("torn")
		g.Press("enter", "enter")
		g.Sees("its end is missing")
		g.SeesNot("side by side")
		g.Pass(time.Second)
		l.holds(0)
		if len(l.loaded) != 1 {
			t.Errorf("loaded %q", l.loaded)
		}
	})
}

// Closing the setup while a model is loaded stops the loading, and gives back
// what was loaded.
func TestLoadingIsStopped(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := loadable(t)
		l.gate = make(chan struct{})
		g := raise(t, l.script())
		g.Press("f12")
		g.toModel("small")
		g.Press("enter", "enter")
		g.Pass(200 * time.Millisecond)
		g.Sees("Loading small: 50%")
		g.Press("esc")
		g.Pass(time.Second)
		g.SeesNot("side by side")
		g.asks("")
		l.holds(0)
		if strings.Contains(g.Screen(), "Compare") {
			t.Errorf("the setup is still there:\n%s", g.Screen())
		}
	})
}
