package sessions

import "golang.org/x/sys/unix"

// niceness leaves a gentle thread a quarter of a core that others want too:
// journals wait for the states before them, and are not to wait for long.
const niceness = 5

// lowerPriority is for the calling thread alone. A system that refuses it
// shares the cores evenly, as before.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness) }
