package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile makes a new file, whole or not at all, also when the program is
// killed meanwhile or the disk is full: it writes beside the name and gives the
// name to what is complete and on the disk. It never replaces a file. What a
// kill leaves is hidden and ends in .partial.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return existsError(path)
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".rookery-%016x.partial", rand.Uint64())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, reason(err))
	}
	defer func() {
		if rerr := os.Remove(f.Name()); err == nil && rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = fmt.Errorf("writing %s: %w", path, reason(rerr))
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = nameFile(f.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		return existsError(path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, reason(err))
	}
	return nil
}

func existsError(path string) error {
	return fmt.Errorf("%s exists: choose another name or remove it first", path)
}

// nameFile gives a file another name, which nobody may have. Where the file
// system has no second names it is renamed.
func nameFile(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// reason is an error without the name of the file beside.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
