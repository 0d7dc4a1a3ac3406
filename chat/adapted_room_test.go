package chat_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// An adaptedRoom is a workspace with the embedded model and its adapters, whose
// steps wait for a gate.
type adaptedRoom struct {
	t         *testing.T
	workspace *chat.Workspace
	store     turn.Store
	engine    *infer.Engine
	gate      *gate
	shut      bool
}

func newAdaptedRoom(t *testing.T, store turn.Store) *adaptedRoom {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Threads: 1, Slots: 8}, nil)
	must(t, err)
	own, ok := b.(*cpu.Backend)
	if !ok {
		t.Fatalf("the processor's backend is a %T", b)
	}
	r := &adaptedRoom{t: t, store: store, gate: newGate()}
	r.engine = infer.NewEngine(m, stepper{own, r.gate}, infer.Options{})
	sampling := sampler.Params{Temperature: 0.9, TopP: 0.95, Presence: 0.4, Frequency: 0.2, Decay: 0.99, Seed: 7}
	r.workspace = chat.NewWorkspace(r.engine, unclosed{store}, chat.Defaults{Sampling: &sampling, MaxTokens: replayTokens})
	r.workspace.UseStates(demo.States)
	r.workspace.UseAdapters(func(_ context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
		if path == "" {
			return demo.OpenAdapter(name, o)
		}
		weights, err := demo.Open()
		if err != nil {
			return nil, err
		}
		return adapter.Open(path, m.Shape, adapter.BaseOf(weights), o)
	}, []string{"demo-pirate", "demo-excited"})
	t.Cleanup(r.close)
	return r
}

func (r *adaptedRoom) close() {
	if r.shut {
		return
	}
	r.shut = true
	r.gate.open()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(r.t, errors.Join(r.workspace.Close(ctx), r.engine.Close()))
}

// again ends the program and starts it with the same store.
func (r *adaptedRoom) again() *adaptedRoom {
	r.t.Helper()
	r.close()
	return newAdaptedRoom(r.t, r.store)
}

func (r *adaptedRoom) open(id turn.ID) *chat.Dialogue {
	r.t.Helper()
	d := r.workspace.Open(id)
	settled(r.t, d)
	return d
}

// use makes an adapter the conversation's; "" is none.
func (r *adaptedRoom) use(d *chat.Dialogue, name string) {
	r.t.Helper()
	var a turn.Adapter
	if name != "" {
		a = find(r.t, r.workspace.Adapters(), name, adapter.Options{})
	}
	must(r.t, d.SetAdapter(a))
}

// during does something when the answer that is begun has drawn some tokens.
func (r *adaptedRoom) during(d *chat.Dialogue, begin func() error, drawn int, do func()) {
	r.t.Helper()
	r.gate.shut()
	must(r.t, begin())
	seen, allowed := -1, time.Time{}
	until(r.t, d, "tokens", func(v chat.View) bool {
		if v.Live == nil {
			return false
		}
		// The answer is not to be over before it was seen: a step follows the
		// view of the last one, or a while if that draws nothing.
		const undrawn = 50 * time.Millisecond
		if n := len(v.Live.Drawn); n != seen || time.Since(allowed) > undrawn {
			seen, allowed = n, time.Now()
			if n < drawn {
				r.gate.allow(1)
			}
		}
		return seen >= drawn
	})
	do() // asks nothing of the engine, which waits
	r.gate.open()
	if v := settled(r.t, d); v.Err != nil {
		r.t.Fatal(v.Err)
	}
}

// answered sends and gives the answer with its state.
func (r *adaptedRoom) answered(d *chat.Dialogue, text string) (turn.Turn, []float32) {
	r.t.Helper()
	v := ask(r.t, d, text)
	if v.Err != nil {
		r.t.Fatal(v.Err)
	}
	return last(v), r.state(last(v).ID)
}

func (r *adaptedRoom) state(id turn.ID) []float32 {
	r.t.Helper()
	s, err := r.store.Snapshot(r.t.Context(), id)
	must(r.t, err)
	if s == nil {
		r.t.Fatalf("turn %d has no state", id)
	}
	return slices.Concat(s.State, s.Logits)
}

// thin removes all states of a conversation that nobody has open.
func thin(t *testing.T, store turn.Store, id turn.ID) {
	t.Helper()
	c, turns, err := store.Load(t.Context(), id)
	must(t, err)
	for _, tn := range turns {
		must(t, store.CommitTurn(t.Context(), c, tn, nil))
	}
}

// unclosed is a store that outlives its workspace.
type unclosed struct{ turn.Store }

func (unclosed) Close() error { return nil }

// oneAdapter says whether the state at the head is that of its tokens read with
// the adapter in use alone.
func (r *adaptedRoom) oneAdapter(d *chat.Dialogue) bool {
	r.t.Helper()
	v := d.View()
	var line []int32
	for _, tn := range v.Turns {
		line = append(line, tn.Tokens...)
	}
	s, err := r.store.Snapshot(r.t.Context(), last(v).ID)
	must(r.t, err)
	stream, err := r.engine.Submit(infer.Request{Tokens: line[:len(line)-len(s.Pending)], Logits: true, Adapter: v.Conversation.Adapter})
	must(r.t, err)
	<-stream.Done()
	must(r.t, stream.Ending().Err)
	return slices.Equal(stream.Ending().Snapshot.State, s.State)
}
