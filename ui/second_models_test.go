package ui

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/infer"
	"rookery/infer/scripted"
)

// guestRoom lets a workspace load other models, and counts those that are there.
type guestRoom struct {
	mu     sync.Mutex
	loaded []string
	here   int
}

func (r *guestRoom) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.here += n
}

func (r *guestRoom) open(_ context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
	if path == "torn.pth" {
		return chat.Opened{}, errors.New("torn.pth: its end is missing")
	}
	m := scripted.Model()
	e := infer.NewEngine(m, scripted.New(m, scripted.Options{}), infer.Options{})
	progress(1, 2)
	r.mu.Lock()
	r.loaded = append(r.loaded, path)
	r.mu.Unlock()
	r.count(1)
	return chat.Opened{Engine: e, Close: func() error {
		r.count(-1)
		return e.Close()
	}}, nil
}

// empty waits until no model is there any more.
func (r *guestRoom) empty(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		here := r.here
		r.mu.Unlock()
		if here == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d models are still there", here)
		}
	}
}

// guestBench is a bench whose comparisons can be of the model in use, a small
// one, one that is too big, one that cannot be loaded and one that cannot be run.
func guestBench(t *testing.T, width, height int) (*bench, *guestRoom) {
	t.Helper()
	k, r := compareDesks(), &guestRoom{}
	m := scripted.Model()
	e := infer.NewEngine(m, scripted.New(m, scripted.Options{}), infer.Options{})
	k.secondModels = chat.NewWorkspace(e, memstore.New(), chat.Defaults{})
	k.secondModels.UseModels(r.open)
	t.Cleanup(func() {
		if err := errors.Join(k.secondModels.Close(context.Background()), e.Close()); err != nil {
			t.Error(err)
		}
	})
	b := newBench(t, k, Settings{}, width, height)
	b.m.options.Models = func(context.Context) ([]ModelFile, error) {
		const free = 4 << 30
		return []ModelFile{
			{Name: "test-g1-20260312", Current: true, Path: "test.pth", About: "x070", Needs: 1 << 30, Free: free},
			{Name: "small", Path: "small.pth", About: "x070 · 20.0 M", Needs: 3 << 30, Free: free},
			{Name: "big", Path: "big.pth", About: "x070 · 900.0 M", Needs: 2 << 30, Free: free},
			{Name: "torn", Path: "torn.pth", About: "x070", Needs: 1 << 20, Free: free},
			{Name: "old", Path: "old.pth", Problem: "it is an RWKV-4"},
		}, nil
	}
	return b, r
}

// toModel goes to the cell of the model and chooses the one that matches.
func toModel(b *bench, name string) {
	b.press("left", " ")
	b.typeText(name)
	b.press("enter")
}

func TestCompareAnotherModel(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}} {
		b, r := guestBench(t, size[0], size[1])
		b.press("f12")
		toModel(b, "small")
		b.press("enter")
		b.check()
		b.sees("Load another model?")
		if size[0] > 40 {
			b.sees("small 3.2 GB")
		}
		if len(r.loaded) != 0 {
			t.Error("it was loaded before it was agreed")
		}
		b.press("enter")
		b.did("compare small, seed 1|test-g1-20260312, seed 2")
		if m := b.k.open[0].asked[0].Model; m == nil || m.Path() != "small.pth" {
			t.Errorf("the first variant is of %v", m)
		}
		b.comparison()
		r.empty(t) // the fake conversation holds nothing
	}
}

func TestModelsThatCannotBeCompared(t *testing.T) {
	b, r := guestBench(t, 80, 24)
	b.press("f12")
	toModel(b, "old")
	b.sees("it is an RWKV-4")
	b.press(" ")
	b.typeText("small")
	b.press("enter", "down", " ")
	b.typeText("big")
	b.press("enter", "enter")
	b.sees("that does not fit into the 4.3 GB")
	b.press(" ")
	b.typeText("torn")
	b.press("enter", "enter", "enter")
	b.sees("its end is missing")
	r.empty(t)
	if len(r.loaded) != 1 || strings.Contains(b.screen(), "side by side") {
		t.Errorf("loaded %q:\n%s", r.loaded, b.screen())
	}
}

// Closing the setup while a model is loaded stops the loading, and gives back
// what was loaded.
func TestLoadingIsStopped(t *testing.T) {
	b, r := guestBench(t, 80, 24)
	b.press("f12")
	toModel(b, "small")
	b.press("enter")
	_, cmd := b.m.Update(keyNamed(t, "enter"))
	b.sees("Loading")
	b.press("esc")
	b.do(cmd)
	b.seesNot("side by side")
	r.empty(t)
	if calls := b.k.open[0].calls; len(calls) > 0 {
		t.Errorf("the conversation was asked %q", calls)
	}
}

func TestPlainComparesModels(t *testing.T) {
	k, r := compareDesks(), &guestRoom{}
	m := scripted.Model()
	e := infer.NewEngine(m, scripted.New(m, scripted.Options{}), infer.Options{})
	k.secondModels = chat.NewWorkspace(e, memstore.New(), chat.Defaults{})
	k.secondModels.UseModels(r.open)
	defer func() {
		if err := errors.Join(k.secondModels.Close(context.Background()), e.Close()); err != nil {
			t.Error(err)
		}
	}()
	var said strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: m, d: k.open[0], out: &said, options: Options{Models: func(context.Context) ([]ModelFile, error) {
		return []ModelFile{{Name: "mine", Current: true}, {Name: "small", Path: "small.pth", Needs: 1 << 20}, {Name: "old", Problem: "no"}}, nil
	}}}
	if err := p.command("compare", "models Hello"); err != nil {
		t.Fatal(err)
	}
	if got := k.open[0].calls; len(got) != 1 || !strings.HasPrefix(got[0], `compare "Hello" scripted`) || !strings.Contains(got[0], "|small") {
		t.Errorf("the conversation was asked %q", got)
	}
	for _, want := range []string{"given back afterwards: small 1.0 MB.", "Loading small.", "2 answers are being made"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it did not say %q:\n%s", want, said.String())
		}
	}
	r.empty(t)
}
