package chat_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/sessions"
)

// When the data directory goes while it is in use, a bundle in a new place has
// everything, at once and after leaving, and both say where.
func TestLostStore(t *testing.T) {
	dir, place := filepath.Join(t.TempDir(), "data"), t.TempDir()
	store, err := sessions.Open(t.Context(), dir)
	must(t, err)
	w := chat.NewWorkspace(newRoom(t, setup{}).engine, store, chat.Defaults{})
	stored := w.New()
	ask(t, stored, "once upon a time")
	w.CloseDialogue(stored)
	d := w.New()
	ask(t, d, "hello")
	w.WatchStore(filepath.Join(dir, "none"), place)
	must(t, os.RemoveAll(dir))
	for end := time.Now().Add(patience); w.Trouble() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody notices")
		}
	}
	if said := w.Trouble().Error(); !strings.Contains(said, "2 conversations are saved in "+place) {
		t.Errorf("it says %s", said)
	}
	want := ask(t, d, "and after it was lost")
	err = w.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), "2 conversations are saved in") {
		t.Errorf("leaving says %v", err)
	}
	names, err := filepath.Glob(filepath.Join(place, "rookery-rescued-*.rookery"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	slices.Sort(names)
	data, err := os.ReadFile(names[1])
	must(t, err)
	again := memstore.New()
	if got := imported(t, again, data); len(got) != 2 {
		t.Errorf("imported %v", got)
	}
	_, turns, err := again.Load(t.Context(), d.ID())
	if err != nil || len(turns) != len(want.Turns) || !bytes.Contains(data, []byte("PK")) {
		t.Errorf("%d turns of %d, %v", len(turns), len(want.Turns), err)
	}
}
