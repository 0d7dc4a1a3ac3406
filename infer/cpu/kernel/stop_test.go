//go:build !race

package kernel

import (
	"runtime"
	"testing"
	"time"
)

// TestPoolStopsForTheRuntime has more threads than the machine has processors
// run short regions with pauses, so that threads mostly yield to each other,
// and checks that the runtime can still stop the world soon: a thread that
// yields where the runtime cannot stop it holds up the whole program. With the
// race detector there is such a place in every function, and nothing to see.
func TestPoolStopsForTheRuntime(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes a second of all processors")
	}
	threads := 4*runtime.NumCPU() + 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads + 2))
	p := NewPool(Best(), threads)
	defer p.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			p.Run(threads, func(int) {
				for start := time.Now(); time.Since(start) < 100*time.Microsecond; {
				}
			})
			p.crowd = crowd{} // do not give up on the helpers
		}
	}()
	var longest time.Duration
	for start := time.Now(); time.Since(start) < time.Second; {
		begin := time.Now()
		var m runtime.MemStats
		runtime.ReadMemStats(&m) // stops the world
		longest = max(longest, time.Since(begin))
	}
	close(stop)
	<-done
	t.Logf("longest stop %v", longest)
	if longest > 500*time.Millisecond {
		t.Errorf("stopping the world took %v", longest)
	}
}
