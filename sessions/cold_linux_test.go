package sessions

import (
	"fmt"
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

// stolen returns a function that says what share of the processors' time a host
// has kept from this machine since.
func stolen(t *testing.T) (since func() float64) {
	t.Helper()
	read := func() (all, kept float64) {
		f, err := os.Open("/proc/stat")
		must(t, err)
		defer func() { _ = f.Close() }()
		var label string
		_, err = fmt.Fscan(f, &label)
		must(t, err)
		const fields, steal = 8, 7 // of proc_stat(5), those before second models'
		for i := range fields {
			var ticks float64
			_, err = fmt.Fscan(f, &ticks)
			must(t, err)
			all += ticks
			if i == steal {
				kept = ticks
			}
		}
		return all, kept
	}
	all, kept := read()
	return func() float64 {
		a, k := read()
		return (k - kept) / max(a-all, 1)
	}
}
