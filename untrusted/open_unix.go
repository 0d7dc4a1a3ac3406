//go:build unix

package untrusted

import "syscall"

// openFlags keep opening from waiting for a writer, and a terminal from becoming the
// program's own.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
