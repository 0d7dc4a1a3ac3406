package statefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"rookery/infer/checkpoint"
	"rookery/untrusted"
)

// maxFile bounds a file in the program's own format, which is read into memory. The
// state of the largest released model has 65 MB.
const maxFile = 1 << 30

// Read reads a state from a file: one of the program's own, a tuned state as
// .pth or .safetensors, or the state merged into a model. The name is the
// file's own or made from the path. Errors are one line that names the file.
func Read(path string, o Options) (*State, error) {
	own, err := readOwn(path)
	if own != nil || err != nil {
		return own, err
	}
	f, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := readTuned(f, o)
	return s, errors.Join(err, f.Close())
}

// FromBytes reads a tuned state from the bytes of a file. name is the state's name
// and stands for the file in errors.
func FromBytes(name string, data []byte, o Options) (*State, error) {
	f, err := checkpoint.FromBytes(name, data)
	if err != nil {
		return nil, err
	}
	s, err := readTuned(f, o)
	return s, errors.Join(err, f.Close())
}

// readOwn reads a file in the program's own format; nil, nil for any other.
func readOwn(path string) (*State, error) {
	f, err := untrusted.Open(context.Background(), path, untrusted.Unbounded)
	if err != nil {
		return nil, err
	}
	data, err := ownBytes(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if data == nil || err != nil {
		return nil, err
	}
	s := new(State)
	if err := s.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, v := range s.Snapshot.State {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s: value %d of the state is %v; nothing can go on from it", path, i, v)
		}
	}
	return s, nil
}

// ownBytes is the whole file if it is in the program's own format, or nil.
func ownBytes(f *untrusted.File) ([]byte, error) {
	head := make([]byte, len(ownMagic))
	if n, _ := io.ReadFull(f, head); n < len(head) || !isOwn(head) {
		return nil, nil
	}
	if f.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d MB is more than a state has", f.Name(), f.Size()>>20)
	}
	data := make([]byte, f.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return data, nil
}
