package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"rookery/untrusted"
)

// An image is the bytes of a file: mapped, in memory, or read on demand if the
// system cannot map files. Where another program has shortened a mapped file there is
// nothing to read, and touching it faults: what touches bytes of slice runs in guard.
type image struct {
	path   string          // empty for bytes in memory
	data   []byte          // all bytes; nil when they are read on demand
	file   *untrusted.File // set when data is nil
	length int64
	unmap  func() error
}

// errNoMapping is returned by mapFile where files cannot be mapped.
var errNoMapping = errors.New("files cannot be mapped on this system")

// openImage opens and maps a regular file. When mapping fails the file is read
// on demand instead.
func openImage(path string, mapper func(*os.File, int64) ([]byte, func() error, error)) (*image, error) {
	f, err := untrusted.Open(context.Background(), path, untrusted.Unbounded)
	if err != nil {
		return nil, err
	}
	length := f.Size()
	if length == 0 {
		return &image{path: path, data: []byte{}}, f.Close()
	}
	if data, unmap, err := mapper(f.Sys(), length); err == nil {
		if err := f.Close(); err != nil {
			return nil, errors.Join(err, unmap())
		}
		return &image{path: path, data: data, length: length, unmap: unmap}, nil
	}
	return &image{path: path, file: f, length: length}, nil
}

// memoryImage is an image of bytes in memory.
func memoryImage(data []byte) *image {
	if data == nil {
		data = []byte{} // nil would mean that they are in a file
	}
	return &image{data: data, length: int64(len(data))}
}

// ReadAt makes an image an io.ReaderAt.
func (m *image) ReadAt(p []byte, off int64) (int, error) {
	if m.data == nil {
		return m.file.ReadAt(p, off)
	}
	var n int
	err := m.guard(func() (err error) {
		n, err = bytes.NewReader(m.data).ReadAt(p, off)
		return err
	})
	return n, err
}

// slice returns n bytes at off: a view of the image where it is in memory, else
// read into buf when that is large enough, else into new memory.
func (m *image) slice(off, n int64, buf []byte) ([]byte, error) {
	if off < 0 || n < 0 || off > m.length-n {
		return nil, fmt.Errorf("bytes %d to %d are outside the file (%d bytes)", off, off+n, m.length)
	}
	if m.data != nil {
		return m.data[off : off+n : off+n], nil
	}
	if int64(len(buf)) < n {
		buf = make([]byte, n)
	}
	got, err := m.file.ReadAt(buf[:n], off)
	if int64(got) == n {
		return buf[:n], nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// close releases the mapping or the file. It may be called twice.
func (m *image) close() error {
	unmap, file := m.unmap, m.file
	m.unmap, m.file, m.data, m.length = nil, nil, nil, 0
	switch {
	case unmap != nil:
		return unmap()
	case file != nil:
		return file.Close()
	}
	return nil
}
