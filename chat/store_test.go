package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/infer/tokenizer"
)

// stateSaved waits until the store has the state after a turn.
func stateSaved(t *testing.T, r *room, id turn.ID) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s, err := r.store.Snapshot(context.Background(), id); err == nil && s != nil {
			return
		}
	}
	t.Fatal("the state was not saved")
}

func TestReopen(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	d := r.workspace.New()
	ask(t, d, "hello")
	want := ask(t, d, "story")
	r.workspace.CloseDialogue(d)

	d = r.workspace.Open(d.ID()) // waits for what is still being saved
	got := settled(t, d)
	if !slices.Equal(texts(got), texts(want)) || got.Conversation.Head != want.Conversation.Head {
		t.Errorf("reopened %q, want %q", texts(got), texts(want))
	}
	if again := r.workspace.Open(d.ID()); again != d {
		t.Error("one conversation is open twice")
	}
	read := r.fed()
	v := ask(t, d, "again")
	if n := r.fed() - read; n > len(v.Turns[4].Tokens)+1 {
		t.Errorf("after reopening, %d tokens were read for a prompt of %d", n, len(v.Turns[4].Tokens))
	}
	r.checkStates(v, 6)
}

// Without usable snapshots everything still works, from the tokens.
func TestUnusableSnapshots(t *testing.T) {
	foreign := func(s *infer.Snapshot) (*infer.Snapshot, error) {
		if s == nil {
			return nil, nil
		}
		other := *s
		other.Model = "another model"
		return &other, nil
	}
	for name, swap := range map[string]func(*infer.Snapshot) (*infer.Snapshot, error){
		"missing":       func(*infer.Snapshot) (*infer.Snapshot, error) { return nil, nil },
		"damaged":       func(*infer.Snapshot) (*infer.Snapshot, error) { return nil, errors.New("checksum") },
		"another model": foreign,
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.New()
			before := newRoom(t, setup{store: store})
			d := before.workspace.New()
			ask(t, d, "hello")
			stopAfter(t, before, d, "story", 9)

			r := newRoom(t, setup{store: store})
			r.store.replace(swap)
			d = r.workspace.Open(d.ID())
			settled(t, d)
			must(t, d.Continue())
			v := settled(t, d)
			if v.Err != nil || last(v).Text != strings.TrimSuffix(story[1:], "\n\n") {
				t.Fatalf("continued to %q, error %v", last(v).Text, v.Err)
			}
			v = ask(t, d, "again")
			if last(v).Text != "Hello again." || v.Err != nil {
				t.Errorf("answered %q, error %v", last(v).Text, v.Err)
			}
			r.store.replace(nil)
			r.checkStates(v, 6)
		})
	}
}

// A model with another tokenizer reads the conversation from its text.
func TestAnotherTokenizer(t *testing.T) {
	store := memstore.New()
	before := newRoom(t, setup{
		store: store, defaults: chat.Defaults{System: "Be kind."},
		answers: append([]scripted.Answer{{Prompt: "User: words\n\n", Text: " the abc and 你好\n\n"}}, answers...),
	})
	d := before.workspace.New()
	ask(t, d, "words")
	stopAfter(t, before, d, "story", 9)

	world := tokenizer.World()
	m := scripted.ModelWith("rookery-demo", world, world.Size())
	m.Fingerprint = "with World"
	r := newRoom(t, setup{store: store, model: m, defaults: chat.Defaults{MaxTokens: 5}})
	d = r.workspace.Open(d.ID())
	old := settled(t, d)
	must(t, d.Continue())
	v := settled(t, d)
	got := last(v)
	if !strings.HasPrefix(got.Text, last(old).Text) || !strings.HasPrefix(decoded(r, got.Tokens), " "+last(old).Text) || got.Model != m.Fingerprint {
		t.Fatalf("%q was continued to %q, which reads %q", last(old).Text, got.Text, decoded(r, got.Tokens))
	}
	if v.Err != nil {
		t.Error(v.Err)
	}
	v = ask(t, d, "again")
	if got := decoded(r, v.Turns[4].Tokens); got != "\n\nUser: again\n\nAssistant:" {
		t.Errorf("the new prompt reads %q", got)
	}
	s, err := r.store.Snapshot(context.Background(), v.Turns[4].ID)
	must(t, err)
	line := world.Encode(world.Encode(nil, "System: Be kind."), "\n\n")
	line = world.Encode(line, "User: words\n\nAssistant:")
	line = world.Encode(line, " the abc and 你好")
	line = append(line, v.Turns[2].Tokens...)
	line = append(line, v.Turns[3].Tokens...)
	line = append(line, v.Turns[4].Tokens...)
	if !slices.Equal(r.state(s, nil), r.state(nil, line)) {
		t.Error("the state is not that of the conversation in the new tokenizer")
	}
}

func TestStoreFailure(t *testing.T) {
	r := newRoom(t, setup{})
	r.store.set(func(string) error { return errors.New("the disk is full") })
	d := r.workspace.New()
	must(t, d.Send("hello"))
	v := until(t, d, "the failure", func(v chat.View) bool { return v.Live == nil && v.Err != nil })
	if v.Saved || !strings.Contains(v.Err.Error(), "the disk is full") || last(v).Text != "Hello to you!" {
		t.Fatalf("saved %v, error %v, turns %q", v.Saved, v.Err, texts(v))
	}
	must(t, d.Send("again")) // the conversation goes on
	v = until(t, d, "the second answer", func(v chat.View) bool { return v.Live == nil })
	if last(v).Text != "Hello again." {
		t.Errorf("turns %q", texts(v))
	}
	r.store.set(nil)
	v = settled(t, d)
	if v.Err != nil {
		t.Errorf("after it was mended, the error is %v", v.Err)
	}
	_, turns, err := r.store.Load(context.Background(), d.ID())
	must(t, err)
	j := newestJournal(t, r.store, d.ID())
	if len(turns) != 4 || j != nil {
		t.Errorf("%d turns were saved, journal %v", len(turns), j)
	}
	r.checkStates(v, 4)
}

// Close says what it could not save.
func TestCloseUnsaved(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	r.store.set(func(string) error { return errors.New("the disk is full") })
	must(t, d.Send("again"))
	until(t, d, "the failure", func(v chat.View) bool { return v.Live == nil && v.Err != nil })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err := r.workspace.Close(ctx)
	if err == nil || !strings.Contains(err.Error(), `"hello" is not saved`) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("closing without saving: %v", err)
	}
	// The room's own Close finds nothing left to do.
	r.workspace = chat.NewWorkspace(r.engine, memstore.New(), chat.Defaults{})
}

// A disk that has room for a text and not for a state costs the state alone.
func TestCloseSavesTheTextWithoutItsState(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	r.store.set(func(op string) error {
		if op == "commit" {
			return errors.New("the disk is full")
		}
		return nil
	})
	d := r.workspace.New()
	must(t, d.Send("hello"))
	v := until(t, d, "the failure", func(v chat.View) bool { return v.Live == nil && v.Err != nil })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, r.workspace.Close(ctx))
	_, turns, err := store.Load(context.Background(), d.ID())
	must(t, err)
	if len(turns) != 2 || turns[1].Text != "Hello to you!" {
		t.Errorf("saved %d turns: %+v", len(turns), turns)
	}
	if s, err := store.Snapshot(context.Background(), last(v).ID); s != nil || err != nil {
		t.Errorf("a state on a full disk: %v, %v", s, err)
	}
	r.workspace = chat.NewWorkspace(r.engine, memstore.New(), chat.Defaults{})
}

// Close stops answers and keeps what they have.
func TestCloseStops(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.Send("story"))
	r.gate.allow(9)
	until(t, d, "text", func(v chat.View) bool { return v.Live != nil && len(v.Live.Text) > 3 })
	d.Stop()
	must(t, d.Send("hello")) // taken, but there is no time for an answer
	go func() {
		time.Sleep(5 * time.Millisecond)
		r.gate.open()
	}()
	must(t, r.workspace.Close(context.Background()))
	_, turns, err := store.Load(context.Background(), d.ID())
	must(t, err)
	if len(turns) != 3 || !turns[1].Open || turns[2].Text != "hello" {
		t.Errorf("saved %+v", turns)
	}
	r.workspace = chat.NewWorkspace(r.engine, memstore.New(), chat.Defaults{})
}

// The journal is written while the answer runs, and not for every token.
func TestJournalPace(t *testing.T) {
	const pace = 50 * time.Millisecond // from one write to the next
	r := newRoom(t, setup{})
	d := r.workspace.New()
	started := time.Now()
	ask(t, d, "story")
	took, wrote := time.Since(started), r.store.wrote()
	if n := strings.Count(wrote, "append"); n > 1+int(took/pace) {
		t.Errorf("%d writes to the journal of an answer that took %v: %s", n, took, wrote)
	}
	if !strings.HasPrefix(wrote, "commit") || !strings.HasSuffix(wrote, "commit") {
		t.Errorf("writes: %s", wrote)
	}
}

// A clock that is set back leaves turns whose IDs are in the future. Those after
// them follow in order all the same, and are there after a restart.
func TestClockSetBack(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			const ahead = turn.ID(time.Hour / time.Microsecond << 12)
			r := newRoom(t, setup{store: open()})
			v := ask(t, r.workspace.New(), "hello")
			c := v.Conversation
			c.ID, c.Head, c.Tip = turn.NewID(), 0, 0
			for _, tn := range v.Turns {
				tn.ID, tn.Parent = tn.ID+ahead, c.Tip
				c.Head, c.Tip = tn.ID, tn.ID
				must(t, r.store.CommitTurn(t.Context(), c, tn, nil))
			}
			d := r.workspace.Open(c.ID)
			settled(t, d)
			want := ask(t, d, "again")
			if last(want).ID <= c.Tip {
				t.Errorf("turn %d is below turn %d", last(want).ID, c.Tip)
			}
			r.close()
			r = newRoom(t, setup{store: open()})
			if got := settled(t, r.workspace.Open(c.ID)); got.Err != nil || !slices.Equal(texts(got), texts(want)) {
				t.Errorf("after a restart there is %q, %v", texts(got), got.Err)
			}
		})
	}
}

// Before ids went on from those that were met, a clock that was set back made
// answers whose ids are smaller than their prompts'. Such a conversation opens and
// goes on, and so does its bundle.
func TestAnswersOlderThanTheirPrompts(t *testing.T) {
	const ahead = turn.ID(time.Hour / time.Microsecond << 12)
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, setup{store: open()})
			d := r.workspace.New()
			ask(t, d, "hello")
			v := ask(t, d, "again")
			c := v.Conversation
			c.ID, c.Head, c.Tip = turn.NewID(), 0, 0
			for i, tn := range v.Turns {
				tn.ID, tn.Parent = c.ID-ahead-turn.ID(10*i), c.Tip
				c.Head, c.Tip = tn.ID, tn.ID
				must(t, r.store.CommitTurn(t.Context(), c, tn, nil))
			}
			bundle := bundled(t, r.store, false, c.ID)
			d = r.workspace.Open(c.ID)
			settled(t, d)
			want := ask(t, d, "and again")
			if want.Err != nil || len(want.Turns) != 6 {
				t.Fatalf("there is %q, %v", texts(want), want.Err)
			}
			r.close()
			r = newRoom(t, setup{store: memstore.New()})
			a := imported(t, r.store, bundle)[0]
			d = r.workspace.Open(a.ID)
			settled(t, d)
			got := ask(t, d, "and again")
			if got.Err != nil || !slices.Equal(texts(got)[:5], texts(want)[:5]) {
				t.Errorf("after the import there is %q, %v", texts(got), got.Err)
			}
		})
	}
}
