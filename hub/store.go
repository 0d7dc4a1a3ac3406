package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Store is a folder of models. Every content is there once, as blobs/SHA-256, and
// has one or more names, which are links to it.
type Store struct {
	Dir string
	// Workers is how many parts are fetched at a time; 0: 4.
	Workers int
	// Free says how many bytes the disk of a folder has left; 0: not known.
	Free func(dir string) uint64

	part int64 // bytes of a part; 0: as partSize says
}

const (
	blobs      = "blobs"
	partSuffix = ".part"
)

// Pull fetches a file, if it is not there, and returns its path. The file appears when
// it is complete and its checksum is right. progress may be nil; it is called by one
// goroutine at a time.
func (s *Store) Pull(ctx context.Context, c *Client, item Item, progress func(done, total int64)) (string, error) {
	name := filepath.Join(s.Dir, item.Name)
	if blob := s.blob(item.SHA256); item.SHA256 != "" {
		if info, err := os.Stat(blob); err == nil && info.Size() == item.Size {
			return name, s.link(blob, name)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, blobs), 0o755); err != nil {
		return "", err
	}
	path := s.blob(cmp.Or(item.SHA256, "url-"+hashOf(item.URLs[0]))) + partSuffix
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	sum, err := s.fetch(ctx, c, item, file, progress)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if item.SHA256 != "" && sum != item.SHA256 {
		err := fmt.Errorf("%s: the SHA-256 of what came is %s, and it should be %s; it was removed, try again or another mirror", item.Name, sum, item.SHA256)
		return "", errors.Join(err, os.Remove(path), os.Remove(path+".json"))
	}
	if err := os.Rename(path, s.blob(sum)); err != nil {
		return "", err
	}
	if err := os.Remove(path + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return name, s.link(s.blob(sum), name)
}

// fetch transfers a file in parts, or as a whole from a server that sends no parts.
func (s *Store) fetch(ctx context.Context, c *Client, item Item, file *os.File, progress func(done, total int64)) (string, error) {
	workers := cmp.Or(s.Workers, 4)
	for _, part := range []int64{cmp.Or(s.part, partSize(item.Size)), item.Size} {
		t := newTransfer(c, item, file, part, progress)
		t.resume()
		if err := s.checkFree(t); err != nil {
			return "", err
		}
		sum, err := t.run(ctx, workers)
		if errors.Is(err, errNoRanges) && part < item.Size {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", item.Name, err)
		}
		return sum, nil
	}
	return "", fmt.Errorf("%s: %w", item.Name, errNoRanges)
}

// checkFree refuses to begin what will not fit on the disk.
func (s *Store) checkFree(t *transfer) error {
	need := t.have.Size
	for _, n := range t.have.Have {
		need -= n
	}
	if s.Free == nil {
		return nil
	}
	if free := s.Free(s.Dir); free > 0 && uint64(need) > free {
		return fmt.Errorf("%s: %d MB are still to come and the disk of %s has %d MB left; make room there", t.item.Name, need/1e6, s.Dir, free/1e6)
	}
	return nil
}

func (s *Store) blob(sum string) string { return filepath.Join(s.Dir, blobs, sum) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// link gives a blob a name: a symbolic link, or a hard one where there are none.
func (s *Store) link(blob, name string) error {
	if a, err := os.Stat(name); err == nil {
		b, err := os.Stat(blob)
		if err == nil && os.SameFile(a, b) {
			return nil
		}
		return fmt.Errorf("%s is another file of that name; move it away. What was fetched is %s", name, blob)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link to nothing
		return err
	}
	if os.Symlink(filepath.Join(blobs, filepath.Base(blob)), name) == nil {
		return nil
	}
	return os.Link(blob, name)
}

// A Kept is a model of the folder.
type Kept struct {
	Name   string
	SHA256 string // empty: a file that was put there by hand
	Size   int64
}

// List lists the models of the folder by name.
func (s *Store) List() ([]Kept, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sums, err := s.blobs()
	if err != nil {
		return nil, err
	}
	var out []Kept
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(s.Dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		kept := Kept{Name: e.Name(), Size: info.Size()}
		for sum, blob := range sums {
			if os.SameFile(info, blob) {
				kept.SHA256 = sum
			}
		}
		out = append(out, kept)
	}
	return out, nil
}

// blobs are the complete contents.
func (s *Store) blobs() (map[string]fs.FileInfo, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, blobs))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]fs.FileInfo{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && isSum(e.Name()) {
			out[e.Name()] = info
		}
	}
	return out, nil
}

// Remove takes a name away, and what it named if it was the last name.
func (s *Store) Remove(name string) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(k Kept) bool { return k.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%s has no model %s; `rookery models ls` lists them", s.Dir, name)
	case all[i].SHA256 == "":
		return fmt.Errorf("%s was not fetched by this program; remove the file yourself", filepath.Join(s.Dir, name))
	}
	err = os.Remove(filepath.Join(s.Dir, name))
	last := !slices.ContainsFunc(slices.Delete(slices.Clone(all), i, i+1), func(k Kept) bool { return k.SHA256 == all[i].SHA256 })
	if err == nil && last {
		err = os.Remove(s.blob(all[i].SHA256))
	}
	return err
}

// Collect removes contents without a name, and what is left of interrupted fetches.
// It returns how many bytes that freed.
func (s *Store) Collect() (freed int64, err error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, blobs))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	named, err := s.List()
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		used := slices.ContainsFunc(named, func(k Kept) bool { return k.SHA256 == e.Name() })
		ours := isSum(e.Name()) || strings.Contains(e.Name(), partSuffix)
		info, err := e.Info()
		if used || !ours || err != nil {
			continue
		}
		if err := os.Remove(filepath.Join(s.Dir, blobs, e.Name())); err != nil {
			return freed, err
		}
		freed += info.Size()
	}
	return freed, nil
}
