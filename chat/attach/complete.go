package attach

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rookery/untrusted"
)

// A Candidate is a file or folder that a path being written may become.
type Candidate struct {
	Path   string // as it is written, a folder's with a slash at the end
	Folder bool
	Size   int64 // of a file
}

// Folder is the part of a path that is written up to its last slash.
func Folder(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// List lists a folder, as Folder names it: folders first, then files, by name. It reads
// a bounded number of entries and blocks.
func List(ctx context.Context, folder string) ([]Candidate, error) {
	dir := cmp.Or(expandHome(folder), ".")
	entries, err := untrusted.List(ctx, dir, mostInside)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if strings.ContainsFunc(e.Name(), unwritable) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name())) // through links
		switch {
		case err != nil:
		case info.IsDir():
			all = append(all, Candidate{Path: folder + e.Name() + "/", Folder: true})
		case info.Mode().IsRegular():
			all = append(all, Candidate{Path: folder + e.Name(), Size: info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		if a.Folder != b.Folder {
			if a.Folder {
				return -1
			}
			return 1
		}
		return cmp.Compare(strings.ToLower(a.Path), strings.ToLower(b.Path))
	})
	return all, nil
}

// unwritable says that a prompt cannot name what has a character in its name.
func unwritable(r rune) bool { return r == '"' || r == utf8.RuneError || unicode.IsControl(r) }

// Matching are the candidates that a path being written may become: those that begin
// with it, then those that hold it. Hidden ones are for who writes their dot.
func Matching(all []Candidate, path string) []Candidate {
	folder := Folder(path)
	typed := strings.ToLower(strings.TrimPrefix(path, folder))
	var first, second []Candidate
	for _, c := range all {
		name := strings.ToLower(strings.TrimPrefix(c.Path, folder))
		switch {
		case strings.HasPrefix(name, ".") && !strings.HasPrefix(typed, "."):
		case strings.HasPrefix(name, typed):
			first = append(first, c)
		case !strings.HasPrefix(typed, ".") && strings.Contains(name, typed):
			second = append(second, c)
		}
	}
	return append(first, second...)
}
