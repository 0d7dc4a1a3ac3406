package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/ui/keys"
)

// export writes the conversation to a file: "md", "json", a path, or both. It
// asks for the path when none is given.
func (m *Model) export(arg string) tea.Cmd {
	t := m.tab()
	if len(t.view.Turns) == 0 {
		return m.fail(errors.New("there is nothing to export yet"))
	}
	format, path := exportTarget(arg, t.title())
	if arg == "" {
		m.open(newQuestion(m.th, "Export the conversation", "A file that ends in .md or .json.", "write", path, false, func(text string) intent {
			if strings.TrimSpace(text) == "" {
				return done{}
			}
			return run{keys.Export, strings.TrimSpace(text)}
		}))
		return nil
	}
	c, line := t.view.Conversation, t.view.Turns
	return func() tea.Msg {
		if err := writeExport(path, format, c, line); err != nil {
			return noticeMsg{err: err}
		}
		return noticeMsg{text: "exported to " + path}
	}
}

// exportTarget reads "[md|json] [path]".
func exportTarget(arg, title string) (chat.Format, string) {
	format, ext := chat.Markdown, ".md"
	word, path, _ := strings.Cut(strings.TrimSpace(arg), " ")
	switch word {
	case "md", "markdown":
	case "json":
		format, ext = chat.JSON, ".json"
	default:
		path = strings.TrimSpace(arg)
		if strings.EqualFold(filepath.Ext(path), ".json") {
			format = chat.JSON
		}
	}
	if path = strings.TrimSpace(path); path == "" {
		path = fileName(title) + ext
	}
	return format, path
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

// writeExport writes a new file; it never replaces one.
func writeExport(path string, format chat.Format, c chat.Conversation, line []chat.Turn) error {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		dir, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("exporting to %s: %w", path, err)
		}
		path = filepath.Join(dir, rest)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	err = chat.Export(f, format, c, line)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return errors.Join(fmt.Errorf("exporting to %s: %w", path, err), os.Remove(path))
	}
	return nil
}
