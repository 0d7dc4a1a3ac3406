package panel_test

import (
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/infer/statefile"
	"rookery/ui"
	"rookery/ui/uitest"
)

// A program is a world with a few states and the screen of it.
type program struct {
	*uitest.World
	*uitest.Terminal
	chat *chat.Dialogue // that is open
}

// open shows a program of some size whose conversation has had an answer. change
// may alter what it runs on.
func open(t *testing.T, width, height int, change func(*uitest.Options, *ui.Options)) program {
	t.Helper()
	world := uitest.Options{Step: time.Millisecond, Setup: func(store *memstore.Store) {
		m := scripted.Model()
		for i, name := range []string{"demo-sad", "demo-animals"} {
			s := turn.State{ID: turn.ID(2001 + i), State: statefile.State{Name: name, Kind: statefile.Baked, ModelName: m.Name, Model: m.Fingerprint, Shape: m.Shape}}
			s.Snapshot = &infer.Snapshot{State: make([]float32, m.Shape.StateLen())}
			uitest.Must(t, store.SaveState(t.Context(), s))
		}
	}}
	options := ui.Options{Settings: ui.Settings{Mouse: true}}
	if change != nil {
		change(&world, &options)
	}
	w := uitest.New(t, world)
	d := w.Converse("Rooks", "Do you hear a rook?")
	options.Workspace = w.Workspace
	return program{w, uitest.Open(t, ui.New(t.Context(), options), width, height), d}
}

// mix is the mix of the conversation.
func (p program) mix() string { return p.chat.View().Conversation.Mix.String() }

// conversation is what the conversation is set to.
func (p program) conversation() turn.Conversation { return p.chat.View().Conversation }
