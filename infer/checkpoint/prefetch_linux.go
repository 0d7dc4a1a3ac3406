package checkpoint

import (
	"os"

	"golang.org/x/sys/unix"
)

// prefetch reads n bytes at off of a mapped file and maps all their pages, which is
// much faster than page faults. A kernel before 5.14 can only be asked to read ahead.
func (m *image) prefetch(off, n int64) {
	if m.unmap == nil || off < 0 || n <= 0 || off > m.length-n {
		return
	}
	page := int64(os.Getpagesize())
	data := m.data[off/page*page : off+n]
	if unix.Madvise(data, unix.MADV_POPULATE_READ) != nil {
		_ = unix.Madvise(data, unix.MADV_WILLNEED) // only a hint
	}
}
