package states

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/attach"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/kit"
)

// fromFiles begins a conversation from a state that has read files: those of a path or
// of @paths, or else those that the prompt names. They are read once; the state is found
// again when the same text is named.
func fromFiles(h kit.Host, arg string) tea.Cmd {
	text := arg
	if arg == "" {
		if text = h.Tab().Prompt().Text(); len(attach.Named(text)) == 0 {
			about := "It is read once. Conversations that begin from the state have read all of it."
			return kit.AskPath(h, "Begin from a file", about, "read it", "", func(h kit.Host, path string) tea.Cmd {
				return fromFiles(h, strings.TrimSpace(path))
			})
		}
	}
	var read attach.Prompt
	var found bool
	return bakeWith(h, func(ctx context.Context, progress func(infer.Progress)) (s turn.State, err error) {
		if read, err = ReadFiles(ctx, text, arg == ""); err != nil {
			return s, err
		}
		s, found, err = BakeFiles(ctx, h.Workspace(), read, progress)
		return s, err
	}, func(h kit.Host, s turn.State) tea.Cmd {
		said := fmt.Sprintf("read %s tokens into “%s”, and begins from it", kit.FormatCount(s.Read), kit.OneLine(s.Name))
		if found {
			said = fmt.Sprintf("begins from “%s”: %s tokens that need not be read again", kit.OneLine(s.Name), kit.FormatCount(s.Read))
		}
		d, err := h.Workspace().NewFrom(s)
		if err != nil {
			return h.Fail(err)
		}
		if arg == "" && h.Tab().Prompt().Text() == text { // the rest of the prompt comes along
			h.Tab().Prompt().Clear()
			began := h.BeginTab(d)
			h.Tab().Prompt().Fill(strings.TrimLeft(read.Text, " \n"))
			return tea.Batch(began, h.Say(said))
		}
		return tea.Batch(h.BeginTab(d), h.Say(said))
	})
}

// ReadFiles reads the files that a text names. Unless it is a prompt, a text without an
// @ is one path.
func ReadFiles(ctx context.Context, text string, prompt bool) (p attach.Prompt, err error) {
	if !prompt && len(attach.Named(text)) == 0 {
		return attach.ReadPaths(ctx, []string{text})
	}
	p, err = attach.Read(ctx, text)
	switch {
	case err != nil:
		return p, err
	case len(p.Missing) > 0 && !prompt:
		return p, fmt.Errorf("there is no file %s", p.Missing[0])
	case len(p.Sources) == 0:
		return p, errors.New("no file is named: write @ and a path")
	}
	return p, nil
}

// BakeFiles finds the state that has read files, or reads them into one. found says
// that nothing was read.
func BakeFiles(ctx context.Context, w *chat.Workspace, p attach.Prompt, progress func(infer.Progress)) (s turn.State, found bool, err error) {
	names := make([]string, len(p.Sources))
	for i, source := range p.Sources {
		names[i] = source.Name
	}
	recipe := library.Recipe{Name: p.Name(), Source: strings.Join(names, ", "), Text: p.Document()}
	return w.Library().BakeOnce(ctx, w.Engine(), recipe, p.Hash(), progress)
}
