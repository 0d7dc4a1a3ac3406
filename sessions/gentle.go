package sessions

import "runtime"

// gentleBytes is the size of a snapshot from which it is saved gently. What is
// smaller takes less time than a thread is worth.
const gentleBytes = 1 << 20

// gently runs f on a thread of its own, of low priority: packing and writing
// megabytes is work for a core, and steps and frames come first. The thread
// ends with its goroutine, which stays locked to it, for a priority that was
// lowered cannot be raised again.
func gently(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		lowerPriority()
		done <- f()
	}()
	return <-done
}
