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
	before := processorTime(t)
	time.Sleep(200 * time.Millisecond)
	if used := processorTime(t) - before; used > 20*time.Millisecond {
		t.Errorf("used %v of processor time in 200 ms of rest", used)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
