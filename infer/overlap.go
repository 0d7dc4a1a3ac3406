package infer

import (
	"runtime"
	"sync/atomic"
)

// spare is how many goroutines may run beside those of a backend that keeps
// every core busy: one for the screen, one for the store.
const spare = 2

// overlap is how many threads of Go's were added to the cores.
var overlap atomic.Int32

// Overlap lets Go run more threads than there are cores, so that the operating
// system fits in the screen and the store. Otherwise they wait for a backend's
// thread to be stopped by the runtime, 10 ms and more each time. Within another
// Overlap it changes nothing.
func Overlap() (restore func()) {
	if overlap.CompareAndSwap(0, spare) {
		before := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(before + spare)
		return func() {
			overlap.Store(0)
			runtime.GOMAXPROCS(before)
		}
	}
	return func() {}
}

// Cores is how many threads Go may use for computing, whether or not more of
// them overlap.
func Cores() int { return runtime.GOMAXPROCS(0) - int(overlap.Load()) }
