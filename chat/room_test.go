package chat_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rookery/chat"
	"rookery/chat/chattest"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
	"rookery/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

// story is long enough to be interrupted.
const story = " Once upon a time there was a rook, and it had a nest.\nThe end of it.\n\n"

// answers are what the scripted model says.
var answers = []scripted.Answer{
	{Prompt: "User: story\n\n", Text: story},
	{Prompt: "User: hello\n\n", Text: " Hello to you!\n\n"},
	{Prompt: "User: again\n\n", Text: " Hello again.\n\n"},
}

// A room is a workspace with an engine and a store, all real but for the model.
type room struct {
	t         *testing.T
	engine    *infer.Engine
	store     *trouble
	workspace *chat.Workspace
	gate      *gate
	dead      bool
	once      sync.Once // for close
}

// kill makes the store take nothing more, as if the program had been killed.
func (r *room) kill() {
	r.dead = true
	r.store.set(func(string) error { return errors.New("killed") })
}

// setup says how a room differs from the usual one.
type setup struct {
	model    *infer.Model // nil: scripted.Model named like the embedded one
	answers  []scripted.Answer
	babble   bool       // no answers
	adapted  bool       // it can use adapters, the scripted ones
	store    turn.Store // nil: a new one in memory
	defaults chat.Defaults
}

func demoModel() *infer.Model { return modelNamed("rookery-demo") }

func modelNamed(name string) *infer.Model {
	m := scripted.Model()
	return scripted.ModelWith(name, m.Tokenizer, m.Shape.Vocab)
}

func newRoom(t *testing.T, s setup) *room {
	t.Helper()
	if s.model == nil {
		s.model = demoModel()
	}
	if s.answers == nil && !s.babble {
		s.answers = answers
	}
	if s.store == nil {
		s.store = memstore.New()
	}
	r := &room{t: t, store: &trouble{Store: s.store}, gate: newGate()}
	o := scripted.Options{Answers: s.answers, Before: r.gate.before}
	var backend infer.Backend = scripted.New(s.model, o)
	if s.adapted {
		backend = scripted.NewAdapted(s.model, o)
	}
	r.engine = infer.NewEngine(s.model, backend, infer.Options{})
	r.workspace = chat.NewWorkspace(r.engine, r.store, s.defaults)
	if s.adapted {
		r.workspace.UseAdapters(scripted.OpenAdapter, scripted.Adapters)
	}
	t.Cleanup(r.close)
	return r
}

// close ends the program, once.
func (r *room) close() {
	r.once.Do(func() {
		t := r.t
		r.gate.open()
		wait := patience
		if r.dead {
			wait = 0
		} else {
			r.store.set(nil)
		}
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if err := r.workspace.Close(ctx); err != nil && !r.dead {
			t.Errorf("closing the workspace: %v", err)
		}
		if err := r.engine.Close(); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
}

// until waits for the dialogue's view to be as asked.
func until(t *testing.T, d *chat.Dialogue, what string, ok func(chat.View) bool) chat.View {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		if v := d.View(); ok(v) {
			return v
		}
	}
	v := d.View()
	t.Fatalf("waiting for %s: live %v, turns %d, saved %v, error %v", what, v.Live, len(v.Turns), v.Saved, v.Err)
	return v
}

// settled waits until nothing runs and everything is saved.
func settled(t *testing.T, d *chat.Dialogue) chat.View {
	t.Helper()
	return until(t, d, "the dialogue to settle", func(v chat.View) bool { return v.Live == nil && v.Saved && !v.Loading })
}

// ask sends and waits for the answer.
func ask(t *testing.T, d *chat.Dialogue, text string) chat.View {
	t.Helper()
	must(t, d.Send(text))
	return settled(t, d)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func texts(v chat.View) []string {
	var out []string
	for _, t := range v.Turns {
		out = append(out, t.Text)
	}
	return out
}

func last(v chat.View) turn.Turn { return v.Turns[len(v.Turns)-1] }

// fed is how many prompt tokens the engine has read so far.
func (r *room) fed() int { return int(r.engine.Stats().Read) }

// checkStates says that the snapshot of every turn on the visible line is the
// state after exactly the tokens that the line says were read, with the adapters
// that it says, and that want of them have one (-1: as many as there are).
func (r *room) checkStates(v chat.View, want int) {
	r.t.Helper()
	found := 0
	for i, tn := range v.Turns {
		if tn.Tokens == nil && tn.Role == turn.RoleUser {
			r.t.Fatalf("turn %d has no tokens", tn.ID)
		}
		s, err := r.store.Snapshot(context.Background(), tn.ID)
		must(r.t, err)
		if s == nil || s.Model != r.engine.Model().Fingerprint {
			continue
		}
		found++
		line, _ := chattest.Readers(v.Turns[:i+1])
		if n := tn.History.Len(); len(tn.History.Runs) > 0 && n+len(s.Pending) != len(line) {
			r.t.Errorf("the history of turn %d has %d tokens, and its state leaves %d of %d", tn.ID, n, len(s.Pending), len(line))
		}
		if !slices.Equal(r.pending(s).State, r.reread(v.Turns[:i+1]).State) {
			r.t.Errorf("the snapshot of turn %d (%q) is not the state after its line's tokens", tn.ID, tn.Text)
		}
	}
	if want >= 0 && found != want {
		r.t.Errorf("%d turns of the line have snapshots, want %d", found, want)
	}
}

// reread is the state after a line, read as its turns say.
func (r *room) reread(line []turn.Turn) *infer.Snapshot {
	r.t.Helper()
	tokens, by := chattest.Readers(line)
	for _, a := range slices.Compact(slices.Clone(by)) {
		must(r.t, r.workspace.Adapters().Need(context.Background(), a))
	}
	s, err := chattest.Read(r.engine, infer.Request{}, tokens, by)
	must(r.t, err)
	return s
}

// pending reads what a snapshot leaves unread.
func (r *room) pending(s *infer.Snapshot) *infer.Snapshot {
	r.t.Helper()
	s, err := chattest.Read(r.engine, infer.Request{From: s}, nil, nil)
	must(r.t, err)
	return s
}

// state reads tokens after a snapshot, and what the snapshot leaves pending.
func (r *room) state(from *infer.Snapshot, tokens []int32) []float32 {
	r.t.Helper()
	s, err := r.engine.Submit(infer.Request{From: from, Tokens: tokens, Logits: true})
	must(r.t, err)
	<-s.Done()
	must(r.t, s.Ending().Err)
	return s.Ending().Snapshot.State
}

// stores open each kind of store, again and again with what it has: the one in
// memory, and the database.
func stores(t *testing.T) map[string]func() turn.Store {
	t.Helper()
	shared, dir := memstore.New(), t.TempDir()
	return map[string]func() turn.Store{
		"memory": func() turn.Store { return shared },
		"sqlite": func() turn.Store {
			s, err := sessions.Open(t.Context(), dir)
			must(t, err)
			return s
		},
	}
}

// seeded are sampling parameters with a fixed seed.
func seeded(temperature float32, seed uint64) *sampler.Params {
	return &sampler.Params{Temperature: temperature, TopP: 1, Decay: 0.99, Seed: seed}
}
