package panel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// models chooses what answers.
type models struct {
	list   func(context.Context) ([]kit.ModelFile, error) // blocks; may be nil
	reopen func(path string)                              // may be nil
}

// ErrNoModels says that there is nothing to choose from.
var ErrNoModels = errors.New("the model cannot be changed here: start with --model FILE")

// pick lists the models, or opens the chat again with one, by name or file.
func (m *models) pick(h kit.Host, name string) tea.Cmd {
	if m.list == nil || m.reopen == nil {
		return h.Fail(ErrNoModels)
	}
	ctx := h.Context()
	list := func() ([]kit.ModelFile, error) { return m.list(ctx) }
	if name != "" {
		return kit.Await(list, func(h kit.Host, files []kit.ModelFile, err error) tea.Cmd {
			if err != nil {
				return h.Fail(err)
			}
			f, err := findModel(files, strings.TrimSpace(name))
			if err != nil {
				return h.Fail(err)
			}
			return m.open(h, f)
		})
	}
	c := kit.NewChooser(h.Theme(), "Models: one is loaded and the conversations opened again", "load", "", nil)
	h.OpenDialog(c)
	return kit.Await(list, func(h kit.Host, files []kit.ModelFile, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		var entries []kit.Entry
		for _, f := range files {
			entries = append(entries, kit.Entry{
				Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Current: f.Current,
				Choose: func(h kit.Host) tea.Cmd {
					h.CloseDialog()
					return m.open(h, f)
				},
			})
		}
		if b := h.Workspace().Engine().Stats().Backend; b != "" {
			c.Title = "Models, on " + b
		}
		c.Fill(entries)
		return nil
	})
}

// open ends the interface, to be opened again with another model.
func (m *models) open(h kit.Host, f kit.ModelFile) tea.Cmd {
	switch {
	case f.Problem != "":
		return h.Fail(f.Err())
	case f.Current:
		return h.Say(kit.OneLine(f.Name) + " runs already")
	}
	m.reopen(f.Path)
	return h.Run(keys.Quit, "")
}

// findModel is the model of a name on the list, or of a file.
func findModel(list []kit.ModelFile, name string) (kit.ModelFile, error) {
	path := kit.ExpandHome(name)
	for _, f := range list {
		if f.Name == name || f.Path == path {
			return f, nil
		}
	}
	if _, err := os.Stat(path); err != nil {
		return kit.ModelFile{}, fmt.Errorf("there is no model %q and no such file: /models lists them", name)
	}
	return kit.ModelFile{Path: path}, nil
}
