package uitest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
)

// Run runs a test in a bubble of its own: time stands still while anything is
// done, and passes at once when all wait for it. It begins at midnight UTC on
// 2000-01-01.
func Run(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// Options say how a World differs from the usual one.
type Options struct {
	Answers  []scripted.Answer           // to prompts; without any the model says Answer
	Babble   bool                        // no answers: what the model says follows from its state alone
	Step     time.Duration               // that a step of the model takes
	Model    string                      // its name; "" is that of the scripted model
	Adapted  bool                        // it can use adapters, the scripted ones
	Stored   []turn.Conversation         // without turns, not open
	Setup    func(*memstore.Store)       // fills the store before it is used
	Wrap     func(turn.Store) turn.Store // stands between the workspace and the store
	Defaults chat.Defaults
	// Engine stands between the workspace and the engine.
	Engine func(*infer.Engine) chat.Engine
}

// Answer is what the model says when it is not told otherwise.
const Answer = "Caw, said the rook."

// A World is a workspace over an engine and a store, all real but for the model.
// It is made in a bubble of Run, or in real time outside of one, and closed
// when the test ends.
type World struct {
	Workspace *chat.Workspace
	Store     *memstore.Store
	Engine    *infer.Engine

	t    testing.TB
	open []*chat.Dialogue
}

// New makes a world.
func New(t testing.TB, o Options) *World {
	t.Helper()
	w := &World{t: t, Store: memstore.New()}
	for _, c := range o.Stored {
		Must(t, w.Store.SaveConversation(t.Context(), c))
	}
	if o.Setup != nil {
		o.Setup(w.Store)
	}
	model := scripted.Model()
	answers := append([]scripted.Answer{{Text: " " + Answer + "\n\n"}}, o.Answers...)
	if o.Babble {
		answers = nil
	}
	if o.Model != "" {
		model.Name = o.Model
	}
	settings := scripted.Options{Answers: answers, Before: scripted.Slow(o.Step)}
	var backend infer.Backend = scripted.New(model, settings)
	if o.Adapted {
		backend = scripted.NewAdapted(model, settings)
	}
	var store turn.Store = w.Store
	if o.Wrap != nil {
		store = o.Wrap(store)
	}
	w.Engine = infer.NewEngine(model, backend, infer.Options{})
	var engine chat.Engine = w.Engine
	if o.Engine != nil {
		engine = o.Engine(w.Engine)
	}
	w.Workspace = chat.NewWorkspace(engine, store, o.Defaults)
	if o.Adapted {
		w.Workspace.UseAdapters(scripted.OpenAdapter, scripted.Adapters)
	}
	t.Cleanup(func() {
		Must(t, w.Workspace.Close(context.Background()))
		Must(t, w.Engine.Close())
	})
	return w
}

// Converse makes a conversation that is open when the program begins: it sends
// the prompts and waits for the answers, and until all is saved. It works outside
// a bubble too.
func (w *World) Converse(title string, prompts ...string) *chat.Dialogue {
	w.t.Helper()
	d := w.say(title, prompts)
	w.open = append(w.open, d)
	w.Workspace.SaveLayout(w.open, 0)
	for {
		if l, err := w.Store.Layout(w.t.Context()); err != nil || len(l.Open) == len(w.open) {
			Must(w.t, err)
			return d
		}
		time.Sleep(time.Millisecond)
	}
}

// Keep makes a conversation that is stored and not open.
func (w *World) Keep(title string, prompts ...string) turn.ID {
	w.t.Helper()
	d := w.say(title, prompts)
	w.Workspace.CloseDialogue(d)
	return d.ID()
}

func (w *World) say(title string, prompts []string) *chat.Dialogue {
	w.t.Helper()
	d := w.Workspace.New()
	for _, text := range prompts {
		Must(w.t, d.Send(text))
		w.wait(d)
	}
	if title != "" {
		Must(w.t, d.SetTitle(title))
		w.wait(d)
	}
	return d
}

// wait waits until a dialogue does nothing and is saved.
func (w *World) wait(d *chat.Dialogue) {
	w.t.Helper()
	for v := d.View(); v.Live != nil || len(v.Turns) > 0 && !v.Saved; v = d.View() {
		Must(w.t, v.Err)
		time.Sleep(time.Millisecond)
	}
	Must(w.t, d.View().Err)
}

// Must fails a test at once if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
