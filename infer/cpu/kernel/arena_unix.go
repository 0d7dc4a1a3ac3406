//go:build unix

package kernel

import "golang.org/x/sys/unix"

func mapRegion(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	adviseHuge(b)
	return b, nil
}

func unmapRegion(b []byte) error { return unix.Munmap(b) }
