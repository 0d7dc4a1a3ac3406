package chat_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
)

func TestRestore(t *testing.T) {
	ctx := context.Background()
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	open, active, err := r.workspace.Restore(ctx)
	must(t, err)
	if len(open) != 1 || active != 0 || len(open[0].View().Turns) != 0 {
		t.Fatalf("an empty store restored %d conversations", len(open))
	}
	a, b, c := open[0], r.workspace.New(), r.workspace.New()
	ask(t, a, "hello")
	ask(t, c, "again")
	r.workspace.SaveLayout([]*chat.Dialogue{c, b, a}, 2) // b was never sent to
	must(t, r.workspace.Close(ctx))

	r.workspace = chat.NewWorkspace(r.engine, store, chat.Defaults{})
	open, active, err = r.workspace.Restore(ctx)
	must(t, err)
	var ids []turn.ID
	for _, d := range open {
		ids = append(ids, d.ID())
		if v := d.View(); v.Loading || len(v.Turns) != 2 {
			t.Errorf("restored %+v", v)
		}
	}
	if !slices.Equal(ids, []turn.ID{c.ID(), a.ID()}) || active != 1 {
		t.Errorf("restored %v with %d active, want %v", ids, active, []turn.ID{c.ID(), a.ID()})
	}
	history, err := r.workspace.History(ctx)
	must(t, err)
	if !slices.Equal(history, []string{"hello", "again"}) {
		t.Errorf("history %q", history)
	}
}

func TestDelete(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	a, b := r.workspace.New(), r.workspace.New()
	ask(t, a, "hello")
	ask(t, b, "again")
	r.gate.shut()
	must(t, a.Send("story"))
	go func() {
		time.Sleep(2 * time.Millisecond)
		r.gate.open()
	}()
	must(t, r.workspace.Delete(ctx, a.ID()))
	list, err := r.workspace.List(ctx)
	must(t, err)
	if len(list) != 1 || list[0].ID != b.ID() {
		t.Errorf("left: %+v", list)
	}
	if v := until(t, r.workspace.Open(a.ID()), "an error", func(v chat.View) bool { return v.Err != nil }); v.Loading {
		t.Error("a deleted conversation is still loading")
	}
	if err := r.workspace.Open(a.ID()).Send("x"); err == nil {
		t.Error("a conversation that could not be read takes turns")
	}
}

func TestEmptyConversationsAreNotStored(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	must(t, d.SetTitle("a title"))
	must(t, d.SetSystem("a system prompt"))
	must(t, d.SetThink(turn.ThinkFree))
	must(t, r.workspace.Close(ctx))
	list, err := r.workspace.List(ctx)
	must(t, err)
	if len(list) != 0 {
		t.Errorf("stored %+v", list)
	}
	r.workspace = chat.NewWorkspace(r.engine, memstore.New(), chat.Defaults{})
}

func TestDefaults(t *testing.T) {
	r := newRoom(t, setup{})
	c := r.workspace.New().View().Conversation
	if c.Preset != "story" || c.Sampling.Temperature != 0.8 || c.Sampling.TopP != 0.9 || c.Think != turn.ThinkOff {
		t.Errorf("a new conversation has %+v", c)
	}
	r.workspace.SetDefaults(chat.Defaults{System: "s", Preset: "calm", Think: turn.ThinkFree})
	if c = r.workspace.New().View().Conversation; c.Preset != "calm" || c.System != "s" || c.Think != turn.ThinkFree {
		t.Errorf("a new conversation has %+v", c)
	}
	r.workspace.SetDefaults(chat.Defaults{Sampling: seeded(0.1, 0)})
	if c = r.workspace.New().View().Conversation; c.Preset != "" || c.Sampling.Temperature != 0.1 {
		t.Errorf("a new conversation has %+v", c)
	}
}

func TestChanged(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	for seen := d.View().Version; ; {
		select {
		case <-r.workspace.Changes():
		case <-time.After(patience):
			t.Fatal("no signal")
		}
		v := d.View()
		if v.Version < seen {
			t.Fatalf("version %d after %d", v.Version, seen)
		}
		seen = v.Version
		if len(v.Turns) == 0 && v.Live == nil {
			must(t, d.Send("hello"))
		}
		if len(v.Turns) == 2 && v.Saved {
			return
		}
	}
}

// Many conversations answer at once, each its own.
func TestAllAtOnce(t *testing.T) {
	r := newRoom(t, setup{})
	prompts := []string{"hello", "again", "story", "hello", "again", "story", "hello", "again", "story", "hello"}
	var open []*chat.Dialogue
	for _, p := range prompts {
		d := r.workspace.New()
		must(t, d.Send(p))
		open = append(open, d)
	}
	want := map[string]string{"hello": "Hello to you!", "again": "Hello again.", "story": story[1 : len(story)-2]}
	for i, d := range open {
		if got := last(settled(t, d)).Text; got != want[prompts[i]] {
			t.Errorf("%q was answered with %q", prompts[i], got)
		}
		r.checkStates(d.View(), 2)
	}
}

// A frame costs the same at any length of the conversation.
func TestViewIsCheap(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	for range 20 {
		ask(t, d, "hello")
	}
	if n := testing.AllocsPerRun(100, func() { d.View() }); n != 0 {
		t.Errorf("a view takes %v allocations", n)
	}
	before := d.View()
	ask(t, d, "story")
	if len(before.Turns) != 40 || len(before.Siblings) != 40 {
		t.Error("an old view has changed")
	}
}
