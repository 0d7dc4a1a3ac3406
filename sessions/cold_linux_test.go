package sessions

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// forgetFile makes the system forget what it has in memory of a file, so that
// the next reading is from the disk.
func forgetFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	must(t, unix.Fdatasync(int(f.Fd())))
	must(t, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	must(t, f.Close())
}
