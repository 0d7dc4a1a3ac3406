package persona

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rookery/chat/library"
	"rookery/untrusted"
)

const (
	maxFile  = 1 << 20  // bytes of a persona
	maxCard  = 16 << 20 // bytes of a picture or card
	maxFiles = 1000     // of a library
)

// A Library is the personas of a folder, which need not be there yet. Its methods block.
type Library struct{ Dir string }

var errNoFolder = errors.New("there is no folder for personas")

// List is all personas, by name. Files that are none are told in the error, beside the
// others.
func (l Library) List(ctx context.Context) ([]Persona, error) {
	if l.Dir == "" {
		return nil, errNoFolder
	}
	entries, err := untrusted.List(ctx, l.Dir, maxFiles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the personas: %w", err)
	}
	var all []Persona
	var bad []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != fileEnding || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := l.load(ctx, filepath.Join(l.Dir, e.Name()), maxFile)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Persona) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all, errors.Join(bad...)
}

func (l Library) load(ctx context.Context, path string, most int64) (Persona, error) {
	data, err := untrusted.Read(ctx, path, most)
	if err != nil {
		return Persona{}, err
	}
	p, err := read(data)
	if err != nil {
		return Persona{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Find finds a persona by its name, which may be written in another case.
func (l Library) Find(ctx context.Context, name string) (Persona, error) {
	all, err := l.List(ctx)
	if len(all) == 0 && err != nil {
		return Persona{}, err
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	i, err := library.FindName("persona", name, names)
	if err != nil {
		return Persona{}, err
	}
	return all[i], nil
}

// Save keeps a persona in the place of one of its name, and returns its file.
func (l Library) Save(ctx context.Context, p Persona) (path string, err error) {
	if l.Dir == "" {
		return "", errNoFolder
	}
	if err := p.tidy(); err != nil {
		return "", err
	}
	path = filepath.Join(l.Dir, fileName(p.Name))
	if have, err := l.load(ctx, path, maxFile); err == nil && !strings.EqualFold(have.Name, p.Name) {
		return "", fmt.Errorf("%s has the persona %q: choose another name", path, have.Name)
	}
	data, err := p.marshal()
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the persona %q has more than %d MiB", p.Name, maxFile>>20)
	}
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return "", fmt.Errorf("saving the persona: %w", err)
	}
	f, err := os.CreateTemp(l.Dir, ".persona-*")
	if err != nil {
		return "", fmt.Errorf("saving the persona: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("saving the persona: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return path, nil
}

// Import reads a persona or a character card from a file and keeps it. One of its name
// that is there already stays, and is an error.
func (l Library) Import(ctx context.Context, path string) (Persona, error) {
	p, err := l.load(ctx, path, maxCard)
	if err != nil {
		return Persona{}, err
	}
	if have, err := l.Find(ctx, p.Name); err == nil && strings.EqualFold(have.Name, p.Name) {
		return Persona{}, fmt.Errorf("there is a persona %q already: delete it first", have.Name)
	}
	_, err = l.Save(ctx, p)
	return p, err
}

// Delete removes a persona for good and returns its name.
func (l Library) Delete(ctx context.Context, name string) (string, error) {
	p, err := l.Find(ctx, name)
	if err != nil {
		return "", err
	}
	return p.Name, os.Remove(filepath.Join(l.Dir, fileName(p.Name)))
}
