//go:build unix

package ui

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasJobControl says whether a shell may be waiting behind the program. The
// leader of a session, and who has another session's process above it, has none.
func hasJobControl() bool {
	session, err := unix.Getsid(0)
	if err != nil || session == os.Getpid() {
		return false
	}
	above, err := unix.Getsid(os.Getppid())
	return err == nil && above == session
}

// wake continues the program if it waits to be.
func wake() { _ = syscall.Kill(os.Getpid(), syscall.SIGCONT) }
