package states

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/infer/statefile"
	"rookery/ui/kit"
	"rookery/untrusted"
)

// bakePath bakes a text file; without a path it asks for one.
func bakePath(h kit.Host, path string) tea.Cmd {
	if path == "" {
		return askBakeFile(h)
	}
	return bake(h, func(ctx context.Context) (library.Recipe, error) { return ReadTextFile(ctx, path) })
}

func askBakeFile(h kit.Host) tea.Cmd {
	about := "Its text is read from the beginning. Conversations that begin from the state have read all of it."
	return kit.AskPath(h, "Bake a text file", about, "read it", "", func(h kit.Host, path string) tea.Cmd {
		return bakePath(h, strings.TrimSpace(path))
	})
}

func askBakeSystem(h kit.Host) tea.Cmd {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Bake a system prompt", "", "go on", h.Tab().View().Conversation.System, true, func(h kit.Host, text string) tea.Cmd {
		h.CloseDialog()
		h.OpenDialog(kit.NewQuestion(h.Theme(), "Name of the state", "", "read it", "", false, func(h kit.Host, name string) tea.Cmd {
			return bake(h, func(context.Context) (library.Recipe, error) {
				return library.Recipe{Name: name, Source: "a system prompt", Text: text, System: true}, nil
			})
		}))
		return nil
	}))
	return nil
}

func askImport(h kit.Host) tea.Cmd {
	about := "A .pth or .safetensors file with time_state, or an .rkstate file."
	return kit.AskPath(h, "Import a state", about, "import", "", func(h kit.Host, path string) tea.Cmd {
		model := h.Workspace().Engine().Model()
		return change(h, func(ctx context.Context, l *library.Library) (string, error) {
			s, err := l.Import(ctx, kit.ExpandHome(strings.TrimSpace(path)), "", statefile.Options{}, model)
			return "imported “" + kit.OneLine(s.Name) + "”", err
		})
	})
}

func askKeep(h kit.Host) tea.Cmd {
	title := kit.TitleOf(h.Tab().View().Conversation)
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Keep the state after this answer", "", "keep", title, false, func(h kit.Host, name string) tea.Cmd {
		return keepAs(h, name)
	}))
	return nil
}

// keep keeps the state after the selected or last answer; without a name it
// asks for one.
func keep(h kit.Host, name string) tea.Cmd {
	if name == "" {
		return askKeep(h)
	}
	return keepAs(h, name)
}

func keepAs(h kit.Host, name string) tea.Cmd {
	turn, ok := h.Tab().SelectedAnswer()
	if !ok || turn.ID == 0 {
		turn, ok = kit.LastAnswer(h.Tab().View().Turns)
	}
	if !ok {
		return h.Fail(ErrNoAnswer)
	}
	d := h.Tab().Dialogue()
	return change(h, func(ctx context.Context, _ *library.Library) (string, error) {
		s, err := d.SaveState(ctx, turn.ID, name)
		return "kept as “" + kit.OneLine(s.Name) + "”", err
	})
}

// maxText bounds a text file that is baked, in bytes.
const maxText = 256 << 20

// ReadTextFile reads a text to bake.
func ReadTextFile(ctx context.Context, path string) (library.Recipe, error) {
	data, err := untrusted.Read(ctx, kit.ExpandHome(path), maxText)
	if err != nil {
		return library.Recipe{}, err
	}
	base := filepath.Base(path)
	return library.Recipe{Name: strings.TrimSuffix(base, filepath.Ext(base)), Source: base, Text: string(data)}, nil
}
