package chat_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
)

// listed is what the store has of a conversation.
func listed(t *testing.T, k *chat.Workspace, id turn.ID) turn.Conversation {
	t.Helper()
	list, err := k.List(context.Background())
	must(t, err)
	for _, c := range list {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("conversation %d is not stored", id)
	return turn.Conversation{}
}

func TestShelfOfOpenAndStoredConversations(t *testing.T) {
	ctx := context.Background()
	for _, open := range []bool{true, false} {
		r := newRoom(t, setup{})
		d := r.workspace.New()
		ask(t, d, "hello")
		before := listed(t, r.workspace, d.ID())
		if !open {
			r.workspace.CloseDialogue(d)
		}
		must(t, r.workspace.SetPinned(ctx, d.ID(), true))
		must(t, r.workspace.SetArchived(ctx, d.ID(), true))
		must(t, r.workspace.SetTitle(ctx, d.ID(), "  A  greeting "))
		if open {
			settled(t, d)
		}
		c := listed(t, r.workspace, d.ID())
		if !c.Pinned || !c.Archived || c.Title != "A greeting" || !c.Named {
			t.Errorf("open %v: stored %+v", open, c)
		}
		if !c.Updated.Equal(before.Updated) {
			t.Errorf("open %v: it became younger by %v", open, c.Updated.Sub(before.Updated))
		}
		must(t, r.workspace.SetPinned(ctx, d.ID(), false))
		must(t, r.workspace.SetArchived(ctx, d.ID(), false))
		v := settled(t, r.workspace.Open(d.ID()))
		if v.Conversation.Pinned || v.Conversation.Archived || len(v.Turns) != 2 {
			t.Errorf("open %v: opened %+v with %d turns", open, v.Conversation, len(v.Turns))
		}
	}
}

func TestShelfRefusals(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	if err := r.workspace.SetPinned(ctx, 99, true); err == nil {
		t.Error("a conversation that is not there was pinned")
	}
	if err := r.workspace.SetTitle(ctx, 99, " \n"); err == nil {
		t.Error("an empty title was taken")
	}
	d := r.workspace.New()
	must(t, r.workspace.SetPinned(ctx, d.ID(), true)) // kept with the first turn
	if list, err := r.workspace.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("stored %v, %v", list, err)
	}
	ask(t, d, "hello")
	if !listed(t, r.workspace, d.ID()).Pinned {
		t.Error("the pin of an empty conversation is lost")
	}
}

func TestThrowingAwayAnOpenConversation(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	r.gate.shut()
	must(t, d.Send("story"))
	go func() {
		time.Sleep(2 * time.Millisecond)
		r.gate.open()
	}()
	must(t, r.workspace.MoveToBin(ctx, d.ID()))
	if c := listed(t, r.workspace, d.ID()); c.Deleted.IsZero() {
		t.Errorf("it is not in the bin: %+v", c)
	}
	if err := d.Send("hello"); !errors.Is(err, chat.ErrClosed) {
		t.Errorf("a conversation in the bin takes turns: %v", err)
	}
	must(t, r.workspace.RestoreFromBin(ctx, d.ID()))
	back := r.workspace.Open(d.ID())
	v := settled(t, back)
	if !v.Conversation.Deleted.IsZero() || len(v.Turns) < 3 {
		t.Errorf("came back with %d turns, %+v", len(v.Turns), v.Conversation)
	}
	ask(t, back, "again")
}

func TestTheBinIsNotOpenedAndPurged(t *testing.T) {
	ctx := context.Background()
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	old, young, kept := r.workspace.New(), r.workspace.New(), r.workspace.New()
	for _, d := range []*chat.Dialogue{old, young, kept} {
		ask(t, d, "hello")
	}
	r.workspace.SaveLayout([]*chat.Dialogue{old, kept}, 0)
	must(t, r.workspace.MoveToBin(ctx, old.ID()))
	must(t, r.workspace.MoveToBin(ctx, young.ID()))
	must(t, r.workspace.Close(ctx))
	c, _, err := store.Load(ctx, old.ID())
	must(t, err)
	c.Deleted = time.Now().Add(-chat.BinRetention - time.Hour)
	must(t, store.SaveConversation(ctx, c))

	r.workspace = chat.NewWorkspace(r.engine, store, chat.Defaults{})
	open, _, err := r.workspace.Restore(ctx)
	must(t, err)
	if len(open) != 1 || open[0].ID() != kept.ID() {
		t.Errorf("opened %d conversations", len(open))
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, _, err := store.Load(ctx, old.ID()); err != nil {
			break // purged
		}
		if time.Now().After(end) {
			t.Fatal("what is too old stays in the bin")
		}
	}
	listed(t, r.workspace, young.ID())
	n, err := r.workspace.EmptyBin(ctx)
	must(t, err)
	if list, err := r.workspace.List(ctx); err != nil || n != 1 || len(list) != 1 || list[0].ID != kept.ID() {
		t.Errorf("emptied %d, left %v, %v", n, list, err)
	}
}

func TestThrowingAwayWhatCannotBeSaved(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	r.store.set(func(string) error { return errors.New("no space left on device") })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := r.workspace.MoveToBin(ctx, d.ID()); err == nil {
		t.Error("it is said to be in the bin")
	}
	r.store.set(nil)
	until := time.Now().Add(patience)
	for listed(t, r.workspace, d.ID()).Deleted.IsZero() {
		if time.Now().After(until) {
			t.Fatal("saving was not tried again")
		}
		time.Sleep(time.Millisecond)
	}
}

// titled is the title that a prompt gives a new conversation.
func titled(t *testing.T, prompts ...string) string {
	t.Helper()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	for _, p := range prompts {
		ask(t, d, p)
	}
	return d.View().Conversation.Title
}

func TestAGreetingIsNoTitleForLong(t *testing.T) {
	if got := titled(t, "hello", "How do rooks nest?", "And ravens?"); got != "How do rooks nest?" {
		t.Errorf("the title is %q", got)
	}
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	must(t, d.SetTitle("Mine"))
	ask(t, d, "How do rooks nest?")
	must(t, d.EditLast("story"))
	if got := settled(t, d).Conversation.Title; got != "Mine" {
		t.Errorf("a named conversation was retitled %q", got)
	}
}
