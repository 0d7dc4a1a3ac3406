//go:build unix

package kernel

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestIdlePoolUsesNoProcessor: once parked, helpers cost nothing.
func TestIdlePoolUsesNoProcessor(t *testing.T) {
	p := NewPool(Go, 3)
	defer p.Close()
	p.Run(10, func(int) {})
	waitFor(t, "helpers to park", func() bool { return p.parked.Load() == 2 })
	// the runtime and earlier tests may have work of their own, but not for ever
	waitFor(t, "200 ms of rest with less than 20 ms of processor time", func() bool {
		before := processorTime(t)
		time.Sleep(200 * time.Millisecond)
		return processorTime(t)-before <= 20*time.Millisecond
	})
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
