package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/ui/keys"
)

// An exporting is what to write, and where.
type exporting struct {
	format transfer.Format
	states bool // in a bundle
	path   string
}

// export writes the conversation to a file; see exportTarget. It asks for the
// path when nothing is given.
func (m *Model) export(arg string) tea.Cmd {
	t := m.tab()
	if len(t.view.Turns) == 0 {
		return m.fail(errors.New("there is nothing to export yet"))
	}
	e := exportTarget(arg, t.title())
	if arg == "" {
		about := "A file that ends in .md or .json, or in " + transfer.BundleExt + " for a bundle with all versions."
		m.open(newQuestion(m.th, "Export the conversation", about, "write", e.path, false, func(text string) intent {
			if strings.TrimSpace(text) == "" {
				return done{}
			}
			return run{keys.Export, strings.TrimSpace(text)}
		}))
		return nil
	}
	c, line := t.view.Conversation, t.view.Turns
	return func() tea.Msg {
		if err := e.write(m.ctx, m.workspace, c, line); err != nil {
			return noticeMsg{err: err}
		}
		return noticeMsg{text: "exported to " + e.path}
	}
}

// exportTarget reads "[md|json|tree|bundle|states] [path]". Without a word the
// path's ending says what is written; "tree" is JSON of all versions and
// "states" a bundle with the states that are kept.
func exportTarget(arg, title string) exporting {
	e, ext := exporting{format: transfer.Markdown}, ".md"
	word, path, _ := strings.Cut(strings.TrimSpace(arg), " ")
	switch word {
	case "md", "markdown":
	case "json":
		e.format, ext = transfer.JSON, ".json"
	case "tree":
		e.format, ext = transfer.WholeTree, ".json"
	case "bundle", "states":
		e.format, ext, e.states = transfer.Bundle, transfer.BundleExt, word == "states"
	default:
		path = strings.TrimSpace(arg)
		switch strings.ToLower(filepath.Ext(path)) {
		case ".json":
			e.format = transfer.JSON
		case transfer.BundleExt:
			e.format = transfer.Bundle
		}
	}
	if e.path = strings.TrimSpace(path); e.path == "" {
		e.path = fileName(title) + ext
	}
	return e
}

// fileName makes a file name of a title.
func fileName(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			return unicode.ToLower(r)
		}
		return '-'
	}, title)
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' }), "-")
	if name == "" {
		return "conversation"
	}
	return name
}

// write makes a new file; it never replaces one. It blocks.
func (e exporting) write(ctx context.Context, k workspace, c turn.Conversation, line []turn.Turn) error {
	path, err := fromHome(e.path)
	if err != nil {
		return fmt.Errorf("exporting to %s: %w", e.path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	switch e.format {
	case transfer.Bundle, transfer.WholeTree:
		err = k.ExportTree(ctx, f, c.ID, e.format, e.states)
	default:
		err = transfer.Export(f, e.format, c, line)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return errors.Join(fmt.Errorf("exporting to %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// fromHome puts the home directory in the place of a leading ~.
func fromHome(path string) (string, error) {
	rest, home := strings.CutPrefix(path, "~/")
	if !home {
		return path, nil
	}
	dir, err := os.UserHomeDir()
	return filepath.Join(dir, rest), err
}
