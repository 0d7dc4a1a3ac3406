package transfer_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rookery/chat/transfer"
)

// TestMain is the child of TestKilledExports, too: it exports until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("ROOKERY_EXPORT"); path != "" {
		err := transfer.WriteFile(path, func(w io.Writer) error {
			for range 64 {
				if _, err := w.Write(make([]byte, 256<<10)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

const exported = 64 * 256 << 10

// A kill at any moment leaves a file whole or not at all under its name.
func TestKilledExports(t *testing.T) {
	whole := 0
	for i := range 20 {
		path := filepath.Join(t.TempDir(), "all.rookery")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "ROOKERY_EXPORT="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 4 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			t.Fatal(err)
		case info.Size() != exported:
			t.Errorf("after %d ms a file of %d bytes is there", i*4, info.Size())
		default:
			whole++
		}
	}
	t.Logf("%d of 20 were whole", whole)
}

// A file that cannot be written whole leaves nothing, and no file is replaced.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.md")
	trouble := errors.New("trouble")
	err := transfer.WriteFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return trouble
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, trouble) || len(left) != 0 {
		t.Errorf("%v, and %v is left", err, left)
	}
	write := func(text string) error {
		return transfer.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	if err := write("one"); err != nil {
		t.Fatal(err)
	}
	if err := write("two"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second time: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "one" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	if err := transfer.WriteFile(filepath.Join(dir, "none", "x"), func(io.Writer) error { return nil }); err == nil || strings.Contains(err.Error(), "partial") {
		t.Errorf("without a folder: %v", err)
	}
}
