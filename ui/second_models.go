package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// noOtherModels says why there is nothing to choose a model from.
const noOtherModels = "There is no other model: put files into the folder of models, see /models."

// ownModel is the model of the conversations.
func (m *Model) ownModel() ModelFile {
	own := ModelFile{Current: true}
	if m.model != nil {
		own.Name, own.Path = m.model.Name, m.model.Path
	}
	return own
}

// otherModels lists what can be compared with, if that can be. It blocks.
func (m *Model) otherModels() ([]ModelFile, error) {
	if m.options.Models == nil {
		return nil, nil
	}
	return m.options.Models(m.ctx)
}

// other says that a draft is of a model that is loaded for it.
func (d *draft) other() bool { return d.model.Name != "" && !d.model.Current }

// take gives the variant another model. States, adapters and mixes are of the
// one before.
func (d *draft) answerWith(f ModelFile) {
	if f.Path == d.model.Path && f.Current == d.model.Current {
		return
	}
	d.model, d.Base, d.Adapter, d.Mix = f, turn.State{}, turn.Adapter{}, turn.Mix{}
}

// otherModels are those that drafts need besides the conversations' own.
func otherModels(drafts []draft) []ModelFile {
	var list []ModelFile
	for _, d := range drafts {
		if d.other() && !slices.ContainsFunc(list, func(f ModelFile) bool { return f.Path == d.model.Path }) {
			list = append(list, d.model)
		}
	}
	return list
}

// fitting says what models take together, or why they do not fit.
func fitting(files []ModelFile) (string, error) {
	var needs, free int64
	var names []string
	for _, f := range files {
		name := kit.OneLine(f.Name)
		if f.Needs > 0 {
			name += " " + kit.FormatSize(f.Needs)
		}
		names, needs = append(names, name), needs+f.Needs
		if f.Free > 0 {
			free = f.Free
		}
	}
	said := strings.Join(names, ", ")
	if free == 0 {
		return said + ".", nil
	}
	if needs > free {
		return "", fmt.Errorf("%s: that does not fit into the %s of memory that are free; choose fewer models, or smaller ones", said, kit.FormatSize(free))
	}
	return fmt.Sprintf("%s. %s of memory are free.", said, kit.FormatSize(free)), nil
}

// askLoad asks whether models are to be loaded.
type askLoad struct {
	now   compareNow
	files []ModelFile
}

func (i askLoad) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	what, err := fitting(i.files)
	if err != nil {
		i.now.s.said = kit.OneLine(err.Error())
		return nil
	}
	title := "Load another model?"
	if n := len(i.files); n > 1 {
		title = fmt.Sprintf("Load %d other models?", n)
	}
	m.OpenDialog(&kit.Confirmation{Title: title, Text: what + " They are given back when the answers have been chosen from.", Verb: "load", Refuse: "not now", Accept: loadNow{i.now}.do})
	return nil
}

// loadNow takes the question away and compares.
type loadNow struct{ now compareNow }

func (i loadNow) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	i.now.agreed = true
	return i.now.do(m)
}

// progressEvery is how often a dialog looks at how far something is.
const progressEvery = 100 * time.Millisecond

// loadTickMsg lets a setup look at how far loading is.
type loadTickMsg struct{ s *setup }

func (msg loadTickMsg) take(m *Model) tea.Cmd {
	if !msg.s.busy {
		return nil
	}
	if said := msg.s.loading.Load(); said != nil {
		msg.s.said = *said
	}
	return m.after(progressEvery, msg)
}

// loadModels loads the models that variants need, one after the other. The
// caller releases those of the variants, also after an error.
func loadModels(ctx context.Context, k compareWorkspace, drafts []draft, variants []chat.Variant, say func(string)) error {
	for i, d := range drafts {
		if !d.other() {
			continue
		}
		name := kit.OneLine(d.model.Name)
		say("Loading " + name + ".")
		g, err := k.LoadSecondModel(ctx, d.model.Path, func(done, total int64) {
			if total > 0 {
				say(fmt.Sprintf("Loading %s: %d%%", name, 100*done/total))
			}
		})
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			return fmt.Errorf("variant %q: %w", variants[i].Name, err)
		}
		variants[i].Model = g
	}
	return nil
}

// releaseModels gives back the models of variants.
func releaseModels(variants []chat.Variant) {
	for _, v := range variants {
		if v.Model != nil {
			v.Model.Release()
		}
	}
}

// holdModels holds the models of variants that are still there, and gives the
// variants of those.
func holdModels(variants []chat.Variant) (held []chat.Variant) {
	for _, v := range variants {
		if v.Model != nil && v.Model.Retain() {
			held = append(held, v)
		}
	}
	return held
}

// chooseModel asks for the model of the selected variant.
func (s *setup) chooseModel(m *Model) tea.Cmd {
	if len(s.models) == 0 {
		s.said = noOtherModels
		return nil
	}
	now := s.drafts[s.row].model
	var entries []kit.Entry
	for _, f := range s.models {
		entries = append(entries, kit.Entry{
			Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Current: f.Path == now.Path,
			Choose: s.set(func(d *draft) error {
				if f.Problem != "" {
					return f.Err()
				}
				d.answerWith(f)
				return nil
			}),
		})
	}
	m.OpenDialog(kit.NewChooser(m.th, "Model; others are loaded beside this one", "choose", "", entries))
	return nil
}

// modelItems are the models that can be run.
func (s *setup) modelItems() ([]kit.Item, func(d *draft, item int)) {
	var all []ModelFile
	var items []kit.Item
	for _, f := range s.models {
		if f.Problem == "" {
			used := s.uses(func(d draft) bool { return d.model.Path == f.Path })
			all, items = append(all, f), append(items, kit.Item{Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Checked: used})
		}
	}
	return items, func(d *draft, i int) { d.answerWith(all[i]) }
}
