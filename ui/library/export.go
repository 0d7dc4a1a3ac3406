package library

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// An Export is what to write of a conversation, and where.
type Export struct {
	Path   string
	format transfer.Format
	states bool // in a bundle
}

// export writes the conversation to a file; see NewExport. It asks for the path
// when nothing is given.
func export(h kit.Host, arg string) tea.Cmd {
	v := h.Tab().View()
	if len(v.Turns) == 0 {
		return h.Fail(errors.New("there is nothing to export yet"))
	}
	e := NewExport(arg, h.Tab().Title())
	if arg == "" {
		about := "A file that ends in .md or .json, or in " + transfer.BundleExt + " for a bundle with all versions."
		return kit.AskPath(h, "Export the conversation", about, "write", e.Path, func(h kit.Host, text string) tea.Cmd {
			h.CloseDialog()
			if text = strings.TrimSpace(text); text == "" {
				return nil
			}
			return export(h, text)
		})
	}
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (string, error) {
		return "exported to " + e.Path, e.Write(ctx, w, v.Conversation, v.Turns)
	}, kit.Report)
}

// NewExport reads "[md|json|tree|bundle|states] [path]". Without a word the
// path's ending says what is written; "tree" is JSON of all versions and
// "states" a bundle with the states that are kept.
func NewExport(arg, title string) Export {
	e, ext := Export{format: transfer.Markdown}, ".md"
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
	if e.Path = strings.TrimSpace(path); e.Path == "" {
		e.Path = fileName(title) + ext
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

// Write makes a new file; it never replaces one. It blocks.
func (e Export) Write(ctx context.Context, w *chat.Workspace, c turn.Conversation, line []turn.Turn) error {
	return transfer.WriteFile(kit.ExpandHome(e.Path), func(f io.Writer) error {
		if e.format == transfer.Bundle || e.format == transfer.WholeTree {
			return w.ExportTree(ctx, f, c.ID, e.format, e.states)
		}
		return transfer.Export(f, e.format, c, line)
	})
}
