//go:build unix

package checkpoint

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first length bytes of f, read-only. The mapping outlives f.
func mapFile(f *os.File, length int64) ([]byte, func() error, error) {
	if length <= 0 || int64(int(length)) != length {
		return nil, nil, fmt.Errorf("%d bytes cannot be mapped: %w", length, errNoMapping)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(length), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping %s: %w", f.Name(), err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
