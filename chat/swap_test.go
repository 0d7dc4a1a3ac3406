package chat_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// A stepper is the embedded model on the processor, whose steps wait for a gate.
type stepper struct {
	*cpu.Backend
	gate *gate
}

func (s stepper) Step(rows []infer.Row, drawn []infer.Drawn) error {
	if err := s.gate.before(rows); err != nil {
		return err
	}
	return s.Backend.Step(rows, drawn)
}

// A swap is a change in the middle of an answer: what the conversation has
// before, what it is given, and the same of a request of the engine.
type swap struct {
	begin func(d *chat.Dialogue) error
	alter func(d *chat.Dialogue) error
	first func(r *infer.Request) // how the answer begins
	then  func(r *infer.Request) // how it goes on from its snapshot
}

const (
	swapTokens = 40 // of an answer
	swapAt     = 12 // drawn at least when the change is made
	swapSteps  = 14 // that are let through before it
)

// swapRoom is a workspace with the embedded model, its states and adapters.
func swapRoom(t *testing.T, store turn.Store) (*chat.Workspace, *infer.Engine, *gate) {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Slots: 8}, nil)
	must(t, err)
	own, ok := b.(*cpu.Backend)
	if !ok {
		t.Fatalf("the processor's backend is a %T", b)
	}
	g := newGate()
	e := infer.NewEngine(m, stepper{own, g}, infer.Options{})
	sampling := sampler.Params{Temperature: 0.9, TopP: 0.95, Seed: 3}
	workspace := chat.NewWorkspace(e, store, chat.Defaults{Sampling: &sampling, MaxTokens: swapTokens})
	workspace.UseStates(demo.States)
	workspace.UseAdapters(func(_ context.Context, _, name string, o adapter.Options) (*adapter.Adapter, error) {
		return demo.OpenAdapter(name, o)
	}, []string{"demo-pirate", "demo-excited"})
	t.Cleanup(func() {
		g.open()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must(t, errors.Join(workspace.Close(ctx), e.Close()))
	})
	return workspace, e, g
}

// What is changed in the middle of an answer counts from the next token on: the
// tokens before are those of an answer that was never changed, and those after
// are those of a run that begins, with what is new, from the state that the
// first ones left.
func TestSwapsInTheMiddleOfAnAnswer(t *testing.T) {
	workspace, e, g := swapRoom(t, memstore.New())
	registry := workspace.Adapters()
	pirate, excited := find(t, registry, "demo-pirate", adapter.Options{}), find(t, registry, "demo-excited", adapter.Options{})
	mixed := func(text string) turn.Mix {
		m, err := workspace.Library().ParseMix(t.Context(), text)
		must(t, err)
		return m
	}
	before, after := mixed("own=1,demo-sad=0.2,demo-animals=0"), mixed("own=0.1,demo-sad=0.2,demo-animals=1.5")
	members, err := workspace.Library().LoadMembers(t.Context(), before, e.Model(), "", "")
	must(t, err)
	calm := sampler.Params{Temperature: 1.5, TopP: 1, Presence: 0.8, Frequency: 0.3, Decay: 0.99, Seed: 3}
	for name, s := range map[string]swap{
		"adapter": {
			begin: func(d *chat.Dialogue) error { return d.SetAdapter(pirate) },
			alter: func(d *chat.Dialogue) error { return d.SetAdapter(excited) },
			first: func(r *infer.Request) { r.Adapter = pirate.Fingerprint },
			then:  func(r *infer.Request) { r.Adapter = excited.Fingerprint },
		},
		"no adapter any more": {
			begin: func(d *chat.Dialogue) error { return d.SetAdapter(excited) },
			alter: func(d *chat.Dialogue) error { return d.SetAdapter(turn.Adapter{}) },
			first: func(r *infer.Request) { r.Adapter = excited.Fingerprint },
			then:  func(r *infer.Request) { r.Adapter = "" },
		},
		"weights of a mix": {
			begin: func(d *chat.Dialogue) error { return d.SetMix(before) },
			alter: func(d *chat.Dialogue) error { return d.SetMix(after) },
			first: func(r *infer.Request) { r.Weight, r.Members = before.Weights()[0], members },
			then: func(r *infer.Request) {
				weights := after.Weights()
				from := *r.From
				from.Weight, from.Members = weights[0], slices.Clone(from.Members)
				for i := range from.Members {
					from.Members[i].Weight = weights[i+1]
				}
				r.From = &from
			},
		},
		"sampling": {
			begin: func(*chat.Dialogue) error { return nil },
			alter: func(d *chat.Dialogue) error { return d.SetSampling(calm, "") },
			first: func(*infer.Request) {},
			then:  func(r *infer.Request) { r.Sampling = calm },
		},
	} {
		t.Run(name, func(t *testing.T) { s.check(t, workspace, e, g) })
	}
}

// check makes the change and compares with what the engine gives in two runs.
func (s *swap) check(t *testing.T, workspace *chat.Workspace, e *infer.Engine, g *gate) {
	t.Helper()
	d := workspace.New()
	must(t, s.begin(d))
	g.shut()
	must(t, d.Send("Tell me a story."))
	g.allow(swapSteps)
	v := until(t, d, "tokens", func(v chat.View) bool { return v.Live != nil && len(v.Live.Drawn) >= swapAt })
	must(t, s.alter(d))
	at := len(v.Live.Drawn)
	g.open()
	got := last(settled(t, d)).Tokens
	prompt := d.View().Turns[0].Tokens
	never := s.run(t, e, infer.Request{Tokens: prompt, MaxTokens: swapTokens}, true)
	if slices.Equal(got, never.Tokens) || len(got) < at+4 {
		t.Fatalf("the change has changed nothing: %d tokens", len(got))
	}
	for drawn := at; drawn <= min(swapSteps+1, len(got)); drawn++ { // the step that waited may have begun
		if !slices.Equal(got[:drawn], never.Tokens[:drawn]) {
			break
		}
		first := s.run(t, e, infer.Request{Tokens: prompt, MaxTokens: drawn}, true)
		rest := s.run(t, e, infer.Request{From: first.Snapshot, MaxTokens: swapTokens - drawn}, false)
		if slices.Equal(got, slices.Concat(first.Tokens, rest.Tokens)) {
			t.Logf("changed after %d of %d tokens", drawn, len(got))
			return
		}
	}
	t.Errorf("%v\nis no answer that was changed after %d to %d tokens; without a change it is\n%v", got, at, swapSteps+1, never.Tokens)
}

// run is what the engine gives for a request in the way before the change, or
// after it.
func (s *swap) run(t *testing.T, e *infer.Engine, r infer.Request, before bool) infer.Ending {
	t.Helper()
	r.Sampling = sampler.Params{Temperature: 0.9, TopP: 0.95, Seed: 3}
	r.Stops, r.AnyAdapter = prompt.Stops(e.Model()), true
	s.first(&r)
	if !before {
		r.Members, r.Weight = nil, 0 // the snapshot has them
		s.then(&r)
	}
	stream, err := e.Submit(r)
	must(t, err)
	<-stream.Done()
	must(t, stream.Ending().Err)
	return stream.Ending()
}

// A program that is killed after an adapter was changed in an answer leaves which
// one read what: the next one goes on as if nothing had happened.
func TestKilledAfterASwap(t *testing.T) {
	store := memstore.New()
	workspace, _, g := swapRoom(t, store)
	d := workspace.New()
	must(t, d.SetAdapter(find(t, workspace.Adapters(), "demo-pirate", adapter.Options{})))
	excited := find(t, workspace.Adapters(), "demo-excited", adapter.Options{})
	g.shut()
	must(t, d.Send("Tell me a story."))
	drawn := func(n int) {
		t.Helper()
		g.allow(swapSteps)
		until(t, d, "tokens", func(v chat.View) bool { return v.Live != nil && len(v.Live.Drawn) >= n })
	}
	drawn(swapAt)
	must(t, d.SetAdapter(excited))
	drawn(swapAt + swapSteps)
	left := journalOf(t, store, d, swapAt+swapSteps)

	next, _, _ := swapRoom(t, store)
	again := next.Open(d.ID())
	found := last(settled(t, again))
	if !found.Open || !slices.Equal(found.Tokens[:len(left.Tokens)], left.Tokens) {
		t.Fatalf("found %+v where the journal has %v", found, left.Tokens)
	}
	must(t, again.Continue())
	got := last(settled(t, again)).Tokens
	g.open()
	if want := last(settled(t, d)).Tokens; len(got) < len(want) || !slices.Equal(got[:len(want)], want) { // it may go on for longer
		t.Errorf("after a kill %v\nand without %v", got, want)
	}
}

// journalOf is the journal of a running answer once it has so many tokens, read with
// more than one adapter.
func journalOf(t *testing.T, store turn.Store, d *chat.Dialogue, tokens int) turn.Journal {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		all, err := store.Journals(t.Context(), d.ID())
		must(t, err)
		if len(all) == 1 && len(all[0].Tokens) >= tokens && len(all[0].Turn.History.Runs) > 1 {
			return all[0]
		}
	}
	t.Fatalf("no journal of %d tokens", tokens)
	return turn.Journal{}
}
