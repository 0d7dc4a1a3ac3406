package chat_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

const book = "There was a rook.\n\nIt had a nest.\n"

func bake(t *testing.T, r *room, name string) turn.State {
	t.Helper()
	s, err := r.workspace.Library().Bake(t.Context(), r.engine, library.Recipe{Name: name, Source: "book.txt", Text: book}, nil)
	must(t, err)
	return s
}

// What a conversation reads that begins from a text is what one would read
// that was told the text first.
func TestBeginFromAText(t *testing.T) {
	r := newRoom(t, setup{defaults: chat.Defaults{System: "be brief"}})
	s := bake(t, r, "book")
	d, err := r.workspace.NewFrom(s)
	must(t, err)
	fed := r.fed()
	v := ask(t, d, "hello")
	tok := r.engine.Model().Tokenizer
	want := slices.Concat(tok.Encode(nil, "There was a rook.\n\nIt had a nest."), tok.Encode(nil, "\n\n"), tok.Encode(nil, "User: hello\n\nAssistant:"))
	if got := slices.Concat(s.Tokens, v.Turns[0].Tokens); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", tok.Decode(nil, got), tok.Decode(nil, want))
	}
	if n := r.fed() - fed; n != len(v.Turns[0].Tokens) {
		t.Errorf("%d tokens were read, want the prompt's %d alone", n, len(v.Turns[0].Tokens))
	}
	for i, tn := range v.Turns {
		if tn.Base != "book" {
			t.Errorf("turn %d begins from %q", i, tn.Base)
		}
		snap, err := r.store.Snapshot(t.Context(), tn.ID)
		must(t, err)
		read := want
		if i == 1 {
			read = slices.Concat(want, tn.Tokens)
		}
		if !slices.Equal(r.state(snap, nil), r.state(nil, read)) {
			t.Errorf("the snapshot of turn %d is not the state after the text and the line", i)
		}
	}
	if v.Base != "book" || v.Conversation.Base != s.ID || v.Conversation.System != "" {
		t.Errorf("the view says %q, %d, %q", v.Base, v.Conversation.Base, v.Conversation.System)
	}
}

// A conversation finds its beginning again after a restart, also where its
// snapshots are gone or its system prompt changes.
func TestBaseAfterARestart(t *testing.T) {
	store := memstore.New()
	var id turn.ID
	t.Run("first", func(t *testing.T) {
		r := newRoom(t, setup{store: store})
		d, err := r.workspace.NewFrom(bake(t, r, "book"))
		must(t, err)
		ask(t, d, "hello")
		id = d.ID()
	})
	r := newRoom(t, setup{store: store})
	r.store.replace(func(*infer.Snapshot) (*infer.Snapshot, error) { return nil, nil })
	d := r.workspace.Open(id)
	settled(t, d)
	must(t, d.SetSystem("be kind"))
	v := ask(t, d, "again")
	tok := r.engine.Model().Tokenizer
	if got := string(tok.Decode(nil, v.Turns[0].Tokens)); got != "\n\nSystem: be kind\n\nUser: hello\n\nAssistant:" {
		t.Errorf("the first prompt is %q", got)
	}
	var line []int32
	for _, tn := range v.Turns {
		line = append(line, tn.Tokens...)
	}
	r.store.replace(nil)
	snap, err := r.store.Snapshot(t.Context(), last(v).ID)
	must(t, err)
	text := tok.Encode(nil, strings.TrimSpace(book))
	if !slices.Equal(r.state(snap, nil), r.state(nil, slices.Concat(text, line))) {
		t.Error("after a restart without snapshots the line did not begin from its state")
	}
}

// Other weights cannot begin from a state, but a conversation goes on: its
// text is read again.
func TestBaseOfOtherWeights(t *testing.T) {
	store := memstore.New()
	var id turn.ID
	var s turn.State
	t.Run("first", func(t *testing.T) {
		r := newRoom(t, setup{store: store})
		s = bake(t, r, "book")
		d, err := r.workspace.NewFrom(s)
		must(t, err)
		ask(t, d, "hello")
		id = d.ID()
	})
	r := newRoom(t, setup{store: store, model: modelNamed("rookery-demo-2")})
	if _, err := r.workspace.NewFrom(s); err == nil || !strings.Contains(err.Error(), "rookery-demo, and rookery-demo-2 is running") {
		t.Errorf("a state of another model: %v", err)
	}
	var mismatch *statefile.MismatchError
	if err := r.workspace.New().SetBase(s); !errors.As(err, &mismatch) {
		t.Errorf("a state of another model: %v", err)
	}
	d := r.workspace.Open(id)
	settled(t, d)
	fed := r.fed()
	v := ask(t, d, "again")
	if v.Err != nil || len(v.Turns) != 4 {
		t.Fatalf("%d turns, %v", len(v.Turns), v.Err)
	}
	if n := r.fed() - fed; n < len(s.Tokens)+len(v.Turns[0].Tokens) {
		t.Errorf("%d tokens were read again, want at least those of the text, %d", n, len(s.Tokens))
	}
	if _, err := d.SaveState(t.Context(), last(v).ID, "kept"); err != nil {
		t.Error(err)
	}
}

func TestDeletingAState(t *testing.T) {
	r := newRoom(t, setup{})
	ctx := t.Context()
	s := bake(t, r, "book")
	d, err := r.workspace.NewFrom(s)
	must(t, err)
	var used *turn.InUseError
	if err := r.workspace.DeleteState(ctx, s); !errors.As(err, &used) || used.Open != 1 {
		t.Errorf("an open conversation begins from it: %v", err)
	}
	ask(t, d, "hello")
	r.workspace.CloseDialogue(d)
	if err := r.workspace.DeleteState(ctx, s); !errors.As(err, &used) || used.Conversations != 1 {
		t.Errorf("a stored conversation begins from it: %v", err)
	}
	must(t, r.workspace.Delete(ctx, d.ID()))
	must(t, r.workspace.DeleteState(ctx, s))
	if _, err := r.workspace.Library().Get(ctx, s.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	// A conversation that was opened from it meanwhile says so.
	late, err := r.workspace.NewFrom(s)
	must(t, err)
	if v := ask(t, late, "again"); !errors.Is(v.Err, fs.ErrNotExist) {
		t.Errorf("an answer without its beginning: %v", v.Err)
	}
}

func TestBakingIsCancelled(t *testing.T) {
	r := newRoom(t, setup{})
	r.gate.shut()
	r.gate.allow(3)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := r.workspace.Library().Bake(ctx, r.engine, library.Recipe{Name: "book", Text: strings.Repeat(book, 100)}, func(p infer.Progress) {
		cancel()
		r.gate.allow(3) // for the step that waits
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("baking ended with %v", err)
	}
	list, err := r.workspace.Library().List(t.Context())
	if err != nil || len(list) != 0 {
		t.Errorf("kept %v, %v", list, err)
	}
}

func TestKeepState(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	v := ask(t, d, "story")
	for i, name := range map[int]string{1: "early", 3: "late"} {
		s, err := d.SaveState(t.Context(), v.Turns[i].ID, name)
		must(t, err)
		var line []int32
		for _, tn := range v.Turns[:i+1] {
			line = append(line, tn.Tokens...)
		}
		if !slices.Equal(s.Tokens, line) || !slices.Equal(s.Snapshot.State, r.state(nil, line)) {
			t.Errorf("%s is not the state after its line", name)
		}
		if s.Kind != statefile.Saved || s.Source != v.Conversation.Title {
			t.Errorf("%s: %s from %q", name, s.Kind, s.Source)
		}
		next, err := r.workspace.NewFrom(s)
		must(t, err)
		if got := ask(t, next, "again"); last(got).Text != "Hello again." {
			t.Errorf("from %s: %q", name, last(got).Text)
		}
	}
	if _, err := d.SaveState(t.Context(), v.Turns[0].ID, "prompt"); err == nil {
		t.Error("kept the state after a prompt")
	}
}

func TestLibraryNames(t *testing.T) {
	r := newRoom(t, setup{})
	r.workspace.UseStates(func() ([]*statefile.State, error) {
		return []*statefile.State{{Name: "own", Kind: statefile.Tuned, Shape: r.engine.Model().Shape, Snapshot: &infer.Snapshot{}}}, nil
	})
	ctx, l := t.Context(), r.workspace.Library()
	s := bake(t, r, "  a \n book ")
	if s.Name != "a book" {
		t.Errorf("it is called %q", s.Name)
	}
	for _, name := range []string{"a book", "own", "", "\n", strings.Repeat("x", 300)} {
		if _, err := l.Add(ctx, statefile.State{Name: name, Kind: statefile.Baked, Snapshot: &infer.Snapshot{}}); err == nil {
			t.Errorf("added a state called %q", name)
		}
		if name != "a book" {
			if err := l.Rename(ctx, s.ID, name); err == nil {
				t.Errorf("renamed to %q", name)
			}
		}
	}
	must(t, l.Rename(ctx, s.ID, "Tome"))
	found, err := l.Find(ctx, "tome")
	if err != nil || found.ID != s.ID || found.Read != len(s.Tokens) || found.Snapshot != nil {
		t.Errorf("found %+v, %v", found, err)
	}
	own, err := l.Find(ctx, "own")
	must(t, err)
	if !own.BuiltIn() || s.BuiltIn() {
		t.Errorf("built in: %v, %v", own.BuiltIn(), s.BuiltIn())
	}
	if l.Rename(ctx, own.ID, "mine") == nil || l.Delete(ctx, own.ID) == nil {
		t.Error("changed a state that comes with the program")
	}
	if _, err := l.Find(ctx, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found none: %v", err)
	}
}

func TestImportAState(t *testing.T) {
	r := newRoom(t, setup{})
	m := r.engine.Model()
	baked := bake(t, r, "book")
	path := filepath.Join(t.TempDir(), "copy.rkstate")
	writeState(t, path, baked, statefile.Own)
	l := r.workspace.Library()
	if _, err := l.Import(t.Context(), path, "", statefile.Options{}, m); !errors.Is(err, turn.ErrNameTaken) {
		t.Errorf("a second book: %v", err)
	}
	s, err := l.Import(t.Context(), path, "copy", statefile.Options{}, m)
	must(t, err)
	if !slices.Equal(s.Snapshot.State, baked.Snapshot.State) || !slices.Equal(s.Tokens, baked.Tokens) || s.Kind != statefile.Baked {
		t.Error("the copy is another one")
	}
	other := library.New(memstore.New(), nil) // of another machine
	baked.Key = int64(baked.ID)
	writeState(t, path, baked, statefile.Own)
	if s, err = other.Import(t.Context(), path, "", statefile.Options{}, m); err != nil || s.ID != baked.ID {
		t.Errorf("a conversation from elsewhere does not find the state: %d, not %d, %v", s.ID, baked.ID, err)
	}
	if s, err = l.Import(t.Context(), path, "third", statefile.Options{}, m); err != nil || s.ID == baked.ID {
		t.Errorf("a state took the place of another: %v", err)
	}
	tuned := filepath.Join(t.TempDir(), "tuned.pth")
	writeState(t, tuned, baked, statefile.Pth)
	s, err = l.Import(t.Context(), tuned, "", statefile.Options{}, m)
	must(t, err)
	if s.Model != m.Weights() || s.ModelName != m.Name || s.Kind != statefile.Tuned || s.Name != "tuned" {
		t.Errorf("imported %+v", s.State)
	}
	big := *m
	big.Shape.Layers, big.Name = 24, "big"
	if _, err := l.Import(t.Context(), tuned, "x", statefile.Options{}, &big); err == nil || !strings.Contains(err.Error(), "big") {
		t.Errorf("imported for a model of another shape: %v", err)
	}
}
