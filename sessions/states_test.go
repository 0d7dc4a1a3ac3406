package sessions

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rookery/chat/turn"
	"rookery/infer/rwkv"
	"rookery/infer/statefile"
)

func libraryState(id turn.ID, name string) turn.State {
	s := turn.State{ID: id, Read: 3, State: statefile.State{
		Name: name, Kind: statefile.Baked, Source: "book 猫.txt", Model: "fingerprint", ModelName: "m", Adapter: "poet's fingerprint", AdapterName: "poet",
		Shape:  rwkv.Shape{Version: rwkv.V7, Layers: 2, Embed: 8, Heads: 2, HeadSize: 4},
		Tokens: []int32{1, 65535, 0}, Created: when,
	}}
	s.Snapshot = snapshot(s.Shape.StateLen())
	return s
}

func TestStates(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	a, b := libraryState(10, "b"), libraryState(11, "a")
	for _, st := range []turn.State{a, b} {
		if err := s.SaveState(ctx, st); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveState(ctx, libraryState(12, "a")); !errors.Is(err, turn.ErrNameTaken) {
		t.Errorf("a name twice: %v", err)
	}
	s = reopen(t, s)
	got, err := s.State(ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bytes < int64(4*a.Shape.StateLen()) {
		t.Errorf("it has %d bytes", got.Bytes)
	}
	a.Bytes = got.Bytes
	if diff := cmp.Diff(a, got); diff != "" {
		t.Error(diff)
	}
	list, err := s.States(ctx)
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Read != 3 || list[0].Snapshot != nil || list[0].Tokens != nil {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := s.RenameState(ctx, 10, "a"); !errors.Is(err, turn.ErrNameTaken) {
		t.Errorf("renamed to a name that is taken: %v", err)
	}
	if err := s.RenameState(ctx, 10, "c"); err != nil {
		t.Error(err)
	}
	if err := s.RenameState(ctx, 99, "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("renamed what is not there: %v", err)
	}
	if _, err := s.State(ctx, 99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read what is not there: %v", err)
	}
}

func TestStatesInUseStay(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	if err := s.SaveState(ctx, libraryState(10, "a")); err != nil {
		t.Fatal(err)
	}
	c := conversation(20)
	c.Base, c.Deleted = 10, when // in the bin
	if err := s.SaveConversation(ctx, c); err != nil {
		t.Fatal(err)
	}
	var used *turn.InUseError
	if err := s.DeleteState(ctx, 10); !errors.As(err, &used) || used.Conversations != 1 || used.Name != "a" {
		t.Errorf("deleted what a conversation begins from: %v", err)
	}
	if err := s.Delete(ctx, 20); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteState(ctx, 10); err != nil {
		t.Error(err)
	}
	if err := s.DeleteState(ctx, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	if err := s.SaveState(ctx, libraryState(10, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.ExecContext(ctx, `UPDATE contents SET data = CAST(substr(data, 1, 50) || x'ff' || substr(data, 52) AS BLOB)`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, 10); !errors.Is(err, ErrDamaged) {
		t.Errorf("a flipped byte: %v", err)
	}
	if list, err := s.States(ctx); err != nil || len(list) != 1 {
		t.Errorf("the list: %v, %v", list, err)
	}
}

// BenchmarkState reads a state of a 7.2B model, which a conversation begins from.
func BenchmarkState(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	st := libraryState(10, "a")
	st.Shape = rwkv.Shape{Version: rwkv.V7, Layers: 32, Embed: 4096, Heads: 64, HeadSize: 64}
	st.Snapshot = snapshot(st.Shape.StateLen())
	if err := s.SaveState(b.Context(), st); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(4 * st.Shape.StateLen()))
	for b.Loop() {
		if _, err := s.State(b.Context(), 10); err != nil {
			b.Fatal(err)
		}
	}
}
