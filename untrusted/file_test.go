package untrusted_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rookery/untrusted"
)

func write(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadBoundsTheSize(t *testing.T) {
	path := write(t, "0123456789")
	for most, fits := range map[int64]bool{0: false, 9: false, 10: true, 11: true, untrusted.Unbounded: true} {
		data, err := untrusted.Read(t.Context(), path, most)
		switch {
		case fits && (err != nil || string(data) != "0123456789"):
			t.Errorf("at most %d: %q, %v", most, data, err)
		case !fits && !errors.Is(err, untrusted.ErrTooLarge):
			t.Errorf("at most %d: %q, %v; want ErrTooLarge", most, data, err)
		}
	}
	if data, err := untrusted.Read(t.Context(), write(t, ""), 0); err != nil || len(data) != 0 {
		t.Errorf("an empty file: %q, %v", data, err)
	}
	if _, err := untrusted.Read(t.Context(), path+"-", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A sparse file of a terabyte is refused before a byte of it is read.
func TestSparseFileIsRefused(t *testing.T) {
	path := write(t, "x")
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip("no sparse files here:", err)
	}
	start := time.Now()
	_, err := untrusted.Read(t.Context(), path, 1<<20)
	if !errors.Is(err, untrusted.ErrTooLarge) || time.Since(start) > time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// A file that grows while it is read gives an error at its bound and not all of it.
func TestGrowingFileStaysInItsBound(t *testing.T) {
	path := write(t, "12345678")
	f, err := untrusted.Open(t.Context(), path, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := f.ReadAll(); !errors.Is(err, untrusted.ErrTooLarge) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestOnlyRegularFiles(t *testing.T) {
	paths := map[string]string{t.TempDir(): "a directory"}
	if _, err := os.Stat("/dev/zero"); err == nil {
		paths["/dev/zero"] = "a device"
	}
	for path, kind := range paths {
		_, err := untrusted.Read(t.Context(), path, untrusted.Unbounded)
		if err == nil || !strings.Contains(err.Error(), path+" is "+kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestContextEndsReading(t *testing.T) {
	path := write(t, strings.Repeat("x", 3<<20))
	ctx, cancel := context.WithCancel(t.Context())
	f, err := untrusted.Open(ctx, path, untrusted.Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := io.ReadFull(f, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := f.ReadAll(); !errors.Is(err, context.Canceled) {
		t.Errorf("reading after the end: %v", err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("reading at a place after the end: %v", err)
	}
	if _, err := untrusted.Read(ctx, path, untrusted.Unbounded); !errors.Is(err, context.Canceled) {
		t.Errorf("opening after the end: %v", err)
	}
}

// FuzzBounds reads a file through any bound, in pieces: it gives the file's bytes, or an
// error, and never more than the bound.
func FuzzBounds(f *testing.F) {
	f.Add([]byte("0123456789"), int64(10), uint8(3))
	f.Add([]byte("0123456789"), int64(-1), uint8(0))
	f.Add([]byte(""), int64(0), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, most int64, piece uint8) {
		path := write(t, string(data))
		file, err := untrusted.Open(t.Context(), path, most)
		if (err == nil) != (int64(len(data)) <= most) {
			t.Fatalf("%d bytes, at most %d: %v", len(data), most, err)
		}
		if err != nil {
			return
		}
		first := make([]byte, piece)
		n, err := io.ReadFull(file, first)
		if err != nil && n != len(data) {
			t.Fatal(err)
		}
		rest, err := file.ReadAll()
		if got := string(first[:n]) + string(rest); err != nil || got != string(data) {
			t.Fatalf("%q became %q, %v", data, got, err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestListIsBounded(t *testing.T) {
	dir := filepath.Dir(write(t, ""))
	for i := range 10 {
		if err := os.Mkdir(filepath.Join(dir, string(rune('a'+i))), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]int{5: 5, 11: 11, 100: 11} {
		if got, err := untrusted.List(t.Context(), dir, most); err != nil || len(got) != want {
			t.Errorf("at most %d: %d entries, %v", most, len(got), err)
		}
	}
	if got, err := untrusted.List(t.Context(), filepath.Join(dir, "a"), 5); err != nil || len(got) != 0 {
		t.Errorf("an empty directory: %v, %v", got, err)
	}
	if _, err := untrusted.List(t.Context(), filepath.Join(dir, "file"), 5); err == nil {
		t.Error("a file was listed")
	}
}
