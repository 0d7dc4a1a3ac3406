//go:build unix

package untrusted_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rookery/untrusted"
)

// Opening a pipe that nobody writes to would never return.
func TestPipeIsRefusedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := untrusted.Open(t.Context(), path, untrusted.Unbounded)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "is a pipe; name a regular file") {
			t.Errorf("the pipe: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("opening the pipe waits for a writer")
	}
}
