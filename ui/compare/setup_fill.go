package compare

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// askValues asks for the values of one column, each for a variant of its own.
func (s *setup) askValues(what keys.ID) kit.Action {
	return func(h kit.Host) tea.Cmd {
		if (what == keys.SetupModels || what == keys.SetupStates || what == keys.SetupAdapters) && s.waitsFor(s.askValues(what)) {
			return nil
		}
		var values string
		var items []kit.Item
		var set func(d *Draft, item int)
		switch what {
		case keys.SetupModels:
			if len(s.models) < chat.MinCompare {
				s.said = noOtherModels
				return nil
			}
			values = "models"
			items, set = s.modelItems()
		case keys.SetupStates:
			values = "states"
			items, set = s.stateItems()
		case keys.SetupAdapters:
			values = "adapters"
			items, set = s.adapterItems()
		case keys.SetupPresets:
			values = "presets"
			items, set = s.presetItems()
		default:
			s.askSeeds(h)
			return nil
		}
		h.OpenDialog(&kit.Checklist{Title: "A variant for each of these " + values, Items: items, Accept: func(h kit.Host, chosen []int) tea.Cmd {
			return s.change(func() error {
				s.fill(len(chosen), func(d *Draft, i int) { set(d, chosen[i]) })
				return nil
			})(h)
		}})
		return nil
	}
}

// fill replaces all variants by the selected one, changed in several ways.
func (s *setup) fill(n int, change func(d *Draft, i int)) {
	if n < chat.MinCompare || n > chat.MaxCompare {
		s.said = fmt.Sprintf("Mark %d to %d; the table stays as it is.", chat.MinCompare, chat.MaxCompare)
		return
	}
	from := s.drafts[s.row]
	from.Name = ""
	s.drafts = make([]Draft, n)
	for i := range s.drafts {
		s.drafts[i] = from
		change(&s.drafts[i], i)
	}
	s.row = 0
}

// uses says whether a variant has something.
func (s *setup) uses(has func(d Draft) bool) bool { return slices.ContainsFunc(s.drafts, has) }

// modelItems are the models that can be run.
func (s *setup) modelItems() ([]kit.Item, func(d *Draft, item int)) {
	var all []kit.ModelFile
	var items []kit.Item
	for _, f := range s.models {
		if f.Problem == "" {
			used := s.uses(func(d Draft) bool { return d.File.Path == f.Path })
			all, items = append(all, f), append(items, kit.Item{Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Checked: used})
		}
	}
	return items, func(d *Draft, i int) { d.UseModel(all[i]) }
}

func (s *setup) stateItems() ([]kit.Item, func(d *Draft, item int)) {
	all := append([]turn.State{{}}, s.states...)
	var items []kit.Item
	for _, state := range all {
		used := s.uses(func(d Draft) bool { return d.Base.ID == state.ID })
		if state.ID == 0 {
			items = append(items, kit.Item{Title: "none", Detail: "the bare model", Checked: used})
			continue
		}
		items = append(items, kit.Item{Title: kit.OneLine(state.Name), Detail: kit.AboutState(state), Checked: used})
	}
	return items, func(d *Draft, i int) { d.Base = all[i] }
}

func (s *setup) adapterItems() ([]kit.Item, func(d *Draft, item int)) {
	all := append([]turn.RegisteredAdapter{{}}, s.adapters...)
	var items []kit.Item
	for _, a := range all {
		used := s.uses(func(d Draft) bool { return d.Adapter.Name == a.Name && d.Adapter.Fingerprint == a.Fingerprint })
		if a.Name == "" {
			items = append(items, kit.Item{Title: "none", Detail: "the model without one", Checked: used})
			continue
		}
		items = append(items, kit.Item{Title: kit.OneLine(a.Name), Detail: aboutAdapter(a), Checked: used})
	}
	return items, func(d *Draft, i int) { d.Adapter = all[i].Adapter }
}

func (s *setup) presetItems() ([]kit.Item, func(d *Draft, item int)) {
	all := s.presets
	var items []kit.Item
	for _, p := range all {
		items = append(items, kit.Item{Title: p.Name, Detail: p.About, Checked: s.uses(func(d Draft) bool { return d.preset == p.Name })})
	}
	return items, func(d *Draft, i int) { d.UsePreset(all[i]) }
}

// askSeeds asks how often the selected variant is to answer.
func (s *setup) askSeeds(h kit.Host) {
	now := fmt.Sprint(max(DefaultBest, len(s.drafts)))
	h.OpenDialog(kit.NewQuestion(h.Theme(), "How many seeds?", "", "fill", now, false, func(h kit.Host, text string) tea.Cmd {
		return s.change(func() error {
			n, err := kit.ParseNumber(kit.OneLine(text), DefaultBest)
			if err == nil && (n < chat.MinCompare || n > chat.MaxCompare) {
				err = fmt.Errorf("%d to %d seeds can be compared", chat.MinCompare, chat.MaxCompare)
			}
			if err != nil {
				return err
			}
			first := max(1, s.drafts[s.row].Sampling.Seed)
			s.fill(n, func(d *Draft, i int) { d.Sampling.Seed = first + uint64(i) })
			return nil
		})(h)
	}))
}
