package chat_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer"
)

// bundled is a bundle of conversations of a store.
func bundled(t testing.TB, store turn.Store, states bool, ids ...turn.ID) []byte {
	t.Helper()
	var b bytes.Buffer
	w := transfer.NewBundleWriter(&b)
	for _, id := range ids {
		tree, err := transfer.LoadTree(context.Background(), store, id, states)
		if err == nil {
			err = w.Add(tree)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// imported carries an import out.
func imported(t *testing.T, store turn.Store, files ...[]byte) []transfer.Result {
	t.Helper()
	var p transfer.Import
	for _, f := range files {
		must(t, p.Read(bytes.NewReader(f), int64(len(f))))
	}
	arrivals, err := p.Commit(context.Background(), store)
	must(t, err)
	return arrivals
}

// same fails unless two stores hold the same tree and the same states.
func same(t *testing.T, a, b turn.Store, id turn.ID, states bool) {
	t.Helper()
	ctx := context.Background()
	ca, ta, err := a.Load(ctx, id)
	must(t, err)
	cb, tb, err := b.Load(ctx, id)
	must(t, err)
	if d := cmp.Diff(ca, cb) + cmp.Diff(ta, tb); d != "" {
		t.Errorf("the tree differs:\n%s", d)
	}
	for _, tn := range ta {
		sa, err := a.Snapshot(ctx, tn.ID)
		must(t, err)
		sb, err := b.Snapshot(ctx, tn.ID)
		must(t, err)
		if !states {
			sa = nil
		}
		// What a state has read is not taken from files: other conversations
		// would start from a state that a file claims to be theirs.
		if d := cmp.Diff(sa, sb, cmpopts.IgnoreFields(infer.Snapshot{}, "Prefix", "Spans")); d != "" {
			t.Errorf("the state of turn %d differs:\n%s", tn.ID, d)
		}
	}
}

// equalButTime compares bundles file by file, but for when they were made.
func equalButTime(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, y := unzipped(t, a), unzipped(t, b)
	for _, files := range []map[string]string{x, y} {
		var m map[string]any
		must(t, json.Unmarshal([]byte(files["rookery.json"]), &m))
		delete(m, "created")
		files["rookery.json"] = fmt.Sprint(m)
	}
	return cmp.Equal(x, y)
}

func unzipped(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// zipped makes a bundle of files; sums corrects the manifest's sizes and checksums.
func zipped(t testing.TB, files map[string]string, sums bool) []byte {
	t.Helper()
	if sums {
		var m map[string]any
		if err := json.Unmarshal([]byte(files["rookery.json"]), &m); err != nil {
			t.Fatal(err)
		}
		fix := func(e any) {
			entry := e.(map[string]any)
			text := files[entry["file"].(string)]
			sum := sha256.Sum256([]byte(text))
			entry["size"], entry["sha256"] = len(text), hex.EncodeToString(sum[:])
		}
		for _, c := range m["conversations"].([]any) {
			fix(c)
			if states, ok := c.(map[string]any)["states"].([]any); ok {
				for _, s := range states {
					fix(s)
				}
			}
		}
		if bases, ok := m["bases"].([]any); ok {
			for _, b := range bases {
				fix(b)
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		files["rookery.json"] = string(text)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
