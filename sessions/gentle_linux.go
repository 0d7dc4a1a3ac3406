package sessions

import "golang.org/x/sys/unix"

// niceness leaves a gentle thread a tenth of a core that others want too. Less
// would be better for steps, but on a machine that is busy with other programs
// journals would wait long for the states before them.
const niceness = 10

// lowerPriority is for the calling thread alone. A system that refuses it
// shares the cores evenly, as before.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness) }
