package kernel

import "golang.org/x/sys/unix"

// osYield lets another thread have the core. runtime.Gosched alone would only look
// for another goroutine, and a sleep lasts 50 µs at least.
func osYield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
