package infer

import (
	"runtime"
	"sync/atomic"
)

// spare is how many threads run beside those of a backend that keeps every core
// busy: one for the screen, one for the store.
const spare = 2

// overlap is how many threads Overlap has added to the cores.
var overlap atomic.Int32

// Overlap lets Go run more threads than there are cores, so that the operating
// system schedules the screen and the store. Without it they wait until the Go
// runtime preempts a thread of the backend: 10 ms and more each time. It changes
// nothing within another Overlap.
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

// Cores is how many threads Go may use for computing, without those of Overlap.
func Cores() int { return runtime.GOMAXPROCS(0) - int(overlap.Load()) }
