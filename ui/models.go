package ui

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

// modelsMsg brings the models for their dialog.
type modelsMsg struct {
	dialog *kit.Chooser
	list   []ModelFile
	err    error
}

// reopenWith ends the interface, to be opened again with another model.
type reopenWith struct{ file ModelFile }

func (i reopenWith) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	switch {
	case i.file.Problem != "":
		return m.fail(i.file.Err())
	case i.file.Current:
		return m.say(kit.OneLine(i.file.Name) + " runs already")
	}
	m.options.Reopen(i.file.Path)
	return m.leave("")
}

var errNoModels = errors.New("the model cannot be changed here: start with --model FILE")

// A modelMsg brings the model that a command named.
type modelMsg struct {
	file ModelFile
	err  error
}

func (m *Model) onModel(msg modelMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return reopenWith{msg.file}.do(m)
}

// modelNamed is the model of a name on the list, or of a file.
func modelNamed(list []ModelFile, name string) (ModelFile, error) {
	path := kit.ExpandHome(name)
	for _, f := range list {
		if f.Name == name || f.Path == path {
			return f, nil
		}
	}
	if _, err := os.Stat(path); err != nil {
		return ModelFile{}, fmt.Errorf("there is no model %q and no such file: /models lists them", name)
	}
	return ModelFile{Path: path}, nil
}

// models lists the models, or opens the chat again with one, by name or file.
func (m *Model) models(arg string) tea.Cmd {
	if m.options.Reopen == nil || m.options.Models == nil {
		return m.fail(errNoModels)
	}
	if arg != "" {
		return func() tea.Msg {
			list, err := m.options.Models(m.ctx)
			if err != nil {
				return modelMsg{err: err}
			}
			f, err := modelNamed(list, strings.TrimSpace(arg))
			return modelMsg{f, err}
		}
	}
	c := kit.NewChooser(m.th, "Models: one is loaded and the conversations opened again", "load", "", nil)
	m.OpenDialog(c)
	return func() tea.Msg {
		list, err := m.options.Models(m.ctx)
		return modelsMsg{c, list, err}
	}
}

func (m *Model) onModels(msg modelsMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	var entries []kit.Entry
	for _, f := range msg.list {
		entries = append(entries, kit.Entry{Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Current: f.Current, Choose: reopenWith{f}.do})
	}
	if b := m.monitor.stats.Backend; b != "" {
		msg.dialog.Title = "Models, on " + b
	}
	msg.dialog.Fill(entries)
	return nil
}

// models says which models there are, or leaves for the one of a file.
func (p *plain) models(ctx context.Context, arg string) error {
	if p.options.Models == nil || arg != "" {
		return errNoModels // what was typed ahead would be lost in between
	}
	list, err := p.options.Models(ctx)
	if err != nil {
		return err
	}
	for _, f := range list {
		p.say(kit.OneLine(f.Name) + ", " + kit.OneLineOr(f.Path, "comes with the program") + ": " + kit.AboutModel(f) + "." + chosen(f.Current))
	}
	p.say("Start with --model and a file to use another one.")
	return nil
}

// modelsTable is the action on models.
func (m *Model) modelsTable() map[keys.ID]func(string) tea.Cmd {
	return map[keys.ID]func(string) tea.Cmd{keys.Models: m.models}
}
