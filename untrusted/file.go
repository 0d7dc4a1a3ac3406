package untrusted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// Unbounded is the bound of a file that is mapped or read in pieces.
const Unbounded = math.MaxInt64

// ErrTooLarge is in the errors of files that are larger than their bound.
var ErrTooLarge = errors.New("too large")

// A File is a regular file, open for reading. Reading it fails when its context has
// ended or more than its bound was read.
type File struct {
	ctx  context.Context
	file *os.File
	size int64
	left int64 // of the bound, for Read
}

// Open opens a regular file of at most `most` bytes for reading. It never waits for a
// writer, and it returns when ctx ends even if the disk does not answer.
func Open(ctx context.Context, path string, most int64) (*File, error) {
	return await(ctx, func() (*File, error) { return open(ctx, path, most) }, func(f *File) { _ = f.Close() })
}

// Read reads a regular file of at most `most` bytes. It returns when ctx ends, even if
// the disk does not answer.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	return await(ctx, func() (_ []byte, err error) {
		f, err := open(ctx, path, most)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		return f.ReadAll()
	}, func([]byte) {})
}

// List reads the names in a directory, in no order and `most` of them at most.
func List(ctx context.Context, path string, most int) ([]fs.DirEntry, error) {
	return await(ctx, func() (_ []fs.DirEntry, err error) {
		info, err := os.Stat(path) // opening a pipe would wait
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is no directory", path)
		}
		f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		entries, err := f.ReadDir(most)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return entries, err
	}, func([]fs.DirEntry) {})
}

// await is the result of work, or the context's error if that comes first; drop gets
// what comes too late.
func await[T any](ctx context.Context, work func() (T, error), drop func(T)) (T, error) {
	if ctx.Done() == nil {
		return work()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				drop(r.value)
			}
		}()
		var none T
		return none, ctx.Err()
	}
}

func open(ctx context.Context, path string, most int64) (*File, error) {
	// Opening a device can do something by itself, so look before.
	info, err := os.Stat(path)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Op = "open" // which is what was asked for
	}
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil { // another file may have come in between
		err = regular(path, info)
	}
	if err == nil && info.Size() > most {
		err = tooLarge(path, info.Size(), most)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{ctx: ctx, file: f, size: info.Size(), left: most}, nil
}

// regular refuses everything but regular files.
func regular(path string, info fs.FileInfo) error {
	var kind string
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "no regular file"
	}
	return fmt.Errorf("%s is %s; name a regular file", path, kind)
}

func tooLarge(path string, size, most int64) error {
	return fmt.Errorf("%s is %w: it has %d bytes, and at most %d can be read", path, ErrTooLarge, size, most)
}

// Read reads on. More bytes than the bound are ErrTooLarge: a file may grow, and some
// files of the system have more bytes than they say.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.left == 0 {
		if n, err := f.file.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%s is %w: it has more bytes than it says", f.Name(), ErrTooLarge)
	}
	n, err := f.file.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

// ReadAt reads len(p) bytes at an offset.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, off)
}

// ReadAll reads what is left of the file.
func (f *File) ReadAll() ([]byte, error) {
	var data []byte
	if f.size < 1<<40 {
		data = make([]byte, 0, f.size+1) // one more, so that the end is seen without growing
	}
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		// In pieces, so that a context that ended is seen.
		piece := data[len(data):min(cap(data), len(data)+1<<20)]
		n, err := f.Read(piece)
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Size is the number of bytes that the file had when it was opened.
func (f *File) Size() int64 { return f.size }

// Name is the path that the file was opened by.
func (f *File) Name() string { return f.file.Name() }

// Sys is the file for the system's own calls, as to map it. The File still owns it.
func (f *File) Sys() *os.File { return f.file }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
