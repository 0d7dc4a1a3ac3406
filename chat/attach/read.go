package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"rookery/untrusted"
)

// What a prompt can name, at most. Who has more to read bakes it from one file.
const (
	MaxFile    = 4 << 20  // bytes of a file
	MaxAll     = 16 << 20 // bytes of all files of a prompt
	MaxFiles   = 200      // of a prompt
	mostInside = 10_000   // entries of a folder and its folders that are looked at
)

// A File is one that was read.
type File struct {
	Name string // as the prompt says it, or inside of a folder that it names
	Text string
}

// A Source is what one mention of a prompt has brought.
type Source struct {
	Name    string // as the prompt says it
	Folder  bool
	Files   []File
	Skipped int // files of a folder that are no text, too large or hidden
}

// A Prompt is a text and the files that it names.
type Prompt struct {
	Text    string // with the names of files in the place of their mentions
	Sources []Source
	Missing []string // what may have been meant as a file and is none
}

// Read reads the files that a text names, in their order, each once. A file that
// cannot be sent is an error; a name that no file has is left in the text.
func Read(ctx context.Context, text string) (Prompt, error) {
	r := reader{ctx: ctx, seen: map[string]bool{}}
	var p Prompt
	var b strings.Builder
	done := 0
	for _, m := range mentions(text) {
		path, found := m.path, false
		if quoted := m.end-m.start > len(m.path)+1; quoted {
			found = exists(path)
		} else {
			for _, path = range shorter(m.path) {
				if found = exists(path); found {
					m.end = m.start + 1 + len(path)
					break
				}
			}
		}
		if !found {
			if likely := shorter(m.path); strings.ContainsAny(likely[len(likely)-1], "./~") {
				p.Missing = append(p.Missing, m.path)
			}
			continue
		}
		if err := r.read(&p, path); err != nil {
			return Prompt{}, err
		}
		b.WriteString(text[done:m.start] + path)
		done = m.end
	}
	p.Text = b.String() + text[done:]
	return p, nil
}

// ReadPaths reads the files or folders of some paths, all of which must be there.
func ReadPaths(ctx context.Context, paths []string) (Prompt, error) {
	r := reader{ctx: ctx, seen: map[string]bool{}}
	var p Prompt
	for _, path := range paths {
		if err := r.read(&p, path); err != nil {
			return Prompt{}, err
		}
	}
	return p, nil
}

func exists(path string) bool {
	if path == "" || strings.ContainsRune(path, 0) {
		return false
	}
	_, err := os.Stat(expandHome(path))
	return err == nil
}

// expandHome puts the home directory in the place of ~.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// A reader reads files until they are too many.
type reader struct {
	ctx   context.Context
	seen  map[string]bool
	bytes int
	files int
}

// read adds what a path names to a prompt, unless it is there already.
func (r *reader) read(p *Prompt, path string) error {
	clean := filepath.Clean(expandHome(path))
	if r.seen[clean] {
		return nil
	}
	r.seen[clean] = true
	info, err := os.Stat(clean)
	if err != nil {
		return missing(path, err)
	}
	s := Source{Name: path}
	if info.IsDir() {
		s.Folder = true
		err = r.folder(&s, clean)
	} else {
		err = r.add(&s, path, clean)
	}
	if err != nil {
		return err
	}
	p.Sources = append(p.Sources, s)
	return nil
}

func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", path)
	}
	return fmt.Errorf("reading %s: %w", path, err)
}

// add reads a file of text.
func (r *reader) add(s *Source, name, path string) error {
	data, err := untrusted.Read(r.ctx, path, MaxFile)
	if errors.Is(err, untrusted.ErrTooLarge) {
		return fmt.Errorf("%s is larger than %d MiB, the most that a prompt can bring: /bake reads it into a state", name, MaxFile>>20)
	}
	if err != nil {
		return err
	}
	text, err := textOf(data)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	if r.files++; r.files > MaxFiles {
		return fmt.Errorf("the prompt names more than %d files: name fewer", MaxFiles)
	}
	if r.bytes += len(text); r.bytes > MaxAll {
		return fmt.Errorf("the files of the prompt have more than %d MiB together: name fewer", MaxAll>>20)
	}
	s.Files = append(s.Files, File{name, text})
	return nil
}

// folder reads the text files below a folder, by name.
func (r *reader) folder(s *Source, root string) error {
	looked := 0
	err := r.below(s, root, root, &looked)
	if err == nil && len(s.Files) == 0 {
		err = fmt.Errorf("the folder %s has no file of text", s.Name)
	}
	return err
}

// below reads the text files below a folder of the root. Hidden ones and links to folders
// are left out, and so is what is no text or cannot be opened.
func (r *reader) below(s *Source, root, folder string, looked *int) error {
	entries, err := untrusted.List(r.ctx, folder, mostInside+1)
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case err != nil && folder == root:
		return fmt.Errorf("reading the folder %s: %w", s.Name, err)
	case err != nil:
		s.Skipped++
		err = nil
	}
	if *looked += len(entries); *looked > mostInside {
		return fmt.Errorf("the folder %s holds more than %d files and folders: name one inside of it", s.Name, mostInside)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), ".") || entry.IsDir() && entry.Name() == "node_modules":
			s.Skipped++
		case entry.IsDir():
			err = r.below(s, root, path, looked)
		default:
			err = r.inside(s, root, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inside reads a file of a folder, or skips it if it is none of text.
func (r *reader) inside(s *Source, root, path string) error {
	data, err := untrusted.Read(r.ctx, path, MaxFile)
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	text := ""
	if err == nil {
		text, err = textOf(data)
	}
	if err != nil {
		s.Skipped++
		return nil //nolint:nilerr // it is left out, and counted
	}
	if r.files++; r.files > MaxFiles {
		return fmt.Errorf("the folder %s has more than %d files of text with what else is named: name one inside of it", s.Name, MaxFiles)
	}
	if r.bytes += len(text); r.bytes > MaxAll {
		return fmt.Errorf("the folder %s has more than %d MiB of text: name one inside of it", s.Name, MaxAll>>20)
	}
	below, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	below = strings.Map(func(r rune) rune { // a name must not look like a text of its own
		if unwritable(r) {
			return '_'
		}
		return r
	}, below)
	s.Files = append(s.Files, File{strings.TrimSuffix(s.Name, "/") + "/" + filepath.ToSlash(below), text})
	return nil
}

// signatures tell what a file is that is no text.
var signatures = []struct{ begins, kind string }{
	{"%PDF-", "is a PDF: name its text, as pdftotext makes it"},
	{"\x89PNG", "is a picture, which this program cannot read"},
	{"\xff\xd8\xff", "is a picture, which this program cannot read"},
	{"GIF8", "is a picture, which this program cannot read"},
	{"PK\x03\x04", "is an archive or an office document: save it as plain text and name that"},
	{"\xd0\xcf\x11\xe0", "is an office document: save it as plain text and name that"},
	{"\x1f\x8b", "is compressed: unpack it and name what is inside"},
	{"\xff\xfe", "is text in UTF-16: save it in UTF-8"},
	{"\xfe\xff", "is text in UTF-16: save it in UTF-8"},
}

// textOf is the text of a file, or says what it is instead. The error goes on from the
// file's name.
func textOf(data []byte) (string, error) {
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s.begins)) {
			return "", errors.New(s.kind)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return "", errors.New("is no text: it has bytes that no text has")
	case !utf8.Valid(data):
		return "", errors.New("is no text in UTF-8: save it in UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		return "", errors.New("is empty")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), nil
}
