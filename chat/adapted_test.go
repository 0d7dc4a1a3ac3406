package chat_test

import (
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/infer/adapter"
)

// adaptedScript is a room whose scripted model babbles, and can use adapters.
func adaptedScript(t *testing.T, store chat.Store) *room {
	t.Helper()
	return newRoom(t, setup{babble: true, adapted: true, store: store, defaults: chat.Defaults{Sampling: seeded(1, 5), MaxTokens: 4, Stops: []string{"no stop"}}})
}

func (r *room) use(d *chat.Dialogue, name string) {
	r.t.Helper()
	must(r.t, d.SetAdapter(find(r.t, r.desk.Rack(), name, adapter.Options{})))
}

// forgetful ends the program, and starts it with a store that has no states of
// a conversation.
func (r *room) forgetful(d *chat.Dialogue) (*room, *chat.Dialogue) {
	r.t.Helper()
	settled(r.t, d)
	r.close()
	thin(r.t, r.store, d.ID())
	again := adaptedScript(r.t, r.store.Store)
	d = again.desk.Open(d.ID())
	settled(r.t, d)
	return again, d
}

// An answer that goes on with another adapter, and whose own state is gone, is
// read again first. The state in the middle of that is not the prompt's.
func TestContinuedWithAnotherAdapterAfterThinning(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	d := r.desk.New()
	r.use(d, "plume")
	must(t, d.EditAnswer(last(ask(t, d, "story")).ID, "The nest.", false))
	settled(t, d)
	r, d = r.forgetful(d)
	r.use(d, "quill")
	must(t, d.Continue())
	settled(t, d)
	must(t, d.Retry())
	r.checkStates(settled(t, d), -1)
}
