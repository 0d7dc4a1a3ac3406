//go:build linux || darwin || freebsd

package sessions

import "golang.org/x/sys/unix"

// FreeSpace is the bytes that may be written to a directory's disk; ok is
// false when the system does not say.
func FreeSpace(dir string) (bytes int64, ok bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true //nolint:unconvert // systems differ in the types
}
