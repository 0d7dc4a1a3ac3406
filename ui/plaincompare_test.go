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
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/infer/statefile"
)

// compareDesks is a workspace with a conversation, states and adapters.
func compareDesks() *fakeDesk {
	k := &fakeDesk{open: []*fakeDialogue{lecture(1)}}
	for i, name := range []string{"animals", "dialogue", "sad"} {
		k.states = append(k.states, turn.State{ID: turn.ID(i + 1), State: statefile.State{Name: name, ModelName: "test"}})
	}
	for _, name := range []string{"pirate", "broken"} {
		k.rack = append(k.rack, turn.RegisteredAdapter{Adapter: turn.Adapter{Name: name}})
	}
	return k
}

func TestPlainCompare(t *testing.T) {
	k := compareDesks()
	d := k.open[0]
	var out strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: d}
	if err := p.command("compare", "everything"); err == nil || !strings.Contains(err.Error(), "/compare states") {
		t.Errorf("an unknown word is refused with %v", err)
	}
	if err := p.command("compare", "states And then?"); err != nil {
		t.Fatal(err)
	}
	if last := d.calls[len(d.calls)-1]; last != `compare "And then?" bare|animals|dialogue|sad` {
		t.Errorf("asked for %s", last)
	}
	d.rows(true)
	p.speak()
	for _, want := range []string{"4 answers are being made.", "Answer 2 of 4, animals, 41 tokens, 12.5 a second, the first after 0.31 s, perplexity 7.39 for the first: Once there was bbb"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out.String())
		}
	}
}

// voted is a workspace on which the state "sad" has won all votes but one.
func voted() *fakeDesk {
	k := compareDesks()
	of := []turn.Description{
		`{"model":"test","state":"sad","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
		`{"model":"test","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
	}
	for i := range 8 {
		winner := 0
		if i == 3 {
			winner = turn.Tie
		}
		k.votes = append(k.votes, turn.Vote{Prompt: "ab", Variants: of, Winner: winner, Created: now})
	}
	return k
}

func TestPlainVotes(t *testing.T) {
	k := voted()
	var out strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: k.open[0]}
	if err := p.command("votes", ""); err != nil {
		t.Fatal(err)
	}
	if want := "test, sad, temperature 0.8, top_p 0.9: 7 won, 1 tied, 0 lost; rate 94 percent"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not said:\n%s", want, out.String())
	}
}

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
