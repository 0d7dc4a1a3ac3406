package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockDir makes this process the writer of a data directory until the file
// is closed.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data directory: %w; check its permissions or choose another storage.data_dir", err)
	}
	got, err := tryLock(f)
	if err == nil && got {
		err = writePID(f)
	}
	if err == nil && got {
		return f, nil
	}
	holder := readPID(f)
	if cerr := f.Close(); cerr != nil && err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return nil, fmt.Errorf("%s is %w by another rookery%s: close that one, or give this one its own directory with --data-dir", dir, ErrInUse, holder)
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID names the process that holds the lock, as far as it is known.
func readPID(f *os.File) string {
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, 0) // io.EOF with what there is
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
