package sessions

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rookery/chat/turn"
	"rookery/infer"
)

// aTree is a conversation of two turns with the state after the second.
func aTree(id turn.ID, read func() (*infer.Snapshot, error)) turn.Tree {
	c := conversation(id)
	c.Head, c.Tip = id+2, id+2
	return turn.Tree{
		Conversation: c,
		Turns:        []turn.Turn{makeTurn(id+1, 0, "a magpie came"), makeTurn(id+2, id+1, "and went")},
		States:       []turn.TreeState{{Turn: id + 2, Read: read}},
	}
}

func TestImport(t *testing.T) {
	s := open(t, t.TempDir())
	want := snapshot(3)
	good := aTree(100, func() (*infer.Snapshot, error) { return want, nil })
	must(t, s.Import(t.Context(), []turn.Tree{good, aTree(200, func() (*infer.Snapshot, error) { return nil, nil })}))
	c, turns, err := s.Load(t.Context(), 100)
	must(t, err)
	if d := cmp.Diff(good.Conversation, c) + cmp.Diff(good.Turns, turns, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("it was stored otherwise:\n%s", d)
	}
	got, err := s.Snapshot(t.Context(), 102)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the state was stored otherwise:\n%s", d)
	}
	if found, err := s.Search(t.Context(), "magpie", 10); err != nil || len(found) != 2 {
		t.Errorf("a search finds %d of 2 turns, %v", len(found), err)
	}
	check(t, func() error { _, err := s.Check(t.Context()); return err }())
}

func TestImportIsAllOrNothing(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(201, 0, "mine"), nil))
	damaged := errors.New("the checksum does not match")
	fine := func() (*infer.Snapshot, error) { return snapshot(1), nil }
	taken := func(id turn.ID) func(error) bool {
		return func(err error) bool {
			var e *turn.TakenError
			return errors.As(err, &e) && e.Conversation == id
		}
	}
	for name, c := range map[string]struct {
		second turn.Tree
		failed func(error) bool
	}{
		"a damaged state":       {aTree(300, func() (*infer.Snapshot, error) { return nil, damaged }), func(err error) bool { return errors.Is(err, damaged) }},
		"a conversation's id":   {aTree(1, fine), taken(1)},
		"a turn's id":           {aTree(200, fine), taken(200)},
		"an id within the file": {aTree(100, fine), taken(100)},
	} {
		if err := s.Import(t.Context(), []turn.Tree{aTree(100, fine), c.second}); !c.failed(err) {
			t.Errorf("%s: %v", name, err)
		}
		list, err := s.Conversations(t.Context())
		must(t, err)
		if len(list) != 1 {
			t.Errorf("%s: %d conversations are stored", name, len(list))
		}
	}
	_, turns, err := s.Load(t.Context(), 1)
	must(t, err)
	if len(turns) != 1 || turns[0].Text != "mine" {
		t.Errorf("what was stored is now %v", turns)
	}
}
