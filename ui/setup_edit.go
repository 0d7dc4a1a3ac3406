package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

type (
	// alterSetup closes the dialog above a setup and changes the setup.
	alterSetup struct {
		s      *setup
		change func(s *setup) error
	}
	// editCell asks for another value of a column of the selected variant.
	editCell struct {
		s      *setup
		column int
	}
	// askPrompt asks for the prompt, askSampling for parameters.
	askPrompt   struct{ s *setup }
	askSampling struct{ s *setup }
	// fillSetup asks for the values of one column in all variants.
	fillSetup struct {
		s    *setup
		what keys.ID
	}
	// readMix takes a mix that was written.
	readMix struct {
		s    *setup
		text string
	}
)

func (i alterSetup) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	i.s.said = "" // it was about what is changed now
	err := i.change(i.s)
	if err != nil && kit.Refuse(m, err) {
		return nil
	}
	m.CloseDialog()
	if err != nil {
		i.s.said = kit.OneLine(err.Error())
	}
	return nil
}

// set changes the selected variant.
func (s *setup) set(change func(d *draft) error) kit.Action {
	return alterSetup{s, func(s *setup) error { return change(&s.drafts[s.row]) }}.do
}

// choose changes the selected variant in a way that always succeeds.
func (s *setup) choose(change func(d *draft)) kit.Action {
	return s.set(func(d *draft) error {
		change(d)
		return nil
	})
}

func (i askPrompt) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.OpenDialog(kit.NewQuestion(m.th, "Prompt to compare answers to", "", "take it", i.s.prompt, true, func(h kit.Host, text string) tea.Cmd {
		return alterSetup{i.s, func(s *setup) error {
			s.prompt = strings.TrimSpace(text)
			return nil
		}}.do(h)
	}))
	return nil
}

// waits says that an intent is carried out when the choices have come.
func (s *setup) waits(i kit.Action) bool {
	if !s.loaded {
		s.next, s.said = i, "Reading what there is."
	}
	return !s.loaded
}

func (i editCell) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	s := i.s
	if (i.column == modelColumn || i.column == baseColumn || i.column == adapterColumn) && s.waits(i.do) {
		return nil
	}
	d := s.drafts[s.row]
	switch i.column {
	case nameColumn:
		m.OpenDialog(kit.NewQuestion(m.th, "Name of the variant", "An empty name says what it differs in.", "name", d.Name, false, func(h kit.Host, text string) tea.Cmd {
			return s.choose(func(d *draft) { d.Name = kit.OneLine(text) })(h)
		}))
	case modelColumn:
		return s.chooseModel(m)
	case baseColumn:
		m.OpenDialog(kit.NewChooser(m.th, "State to begin from", "choose", "", s.stateEntries()))
	case adapterColumn:
		m.OpenDialog(kit.NewChooser(m.th, "Adapter", "choose", "", s.adapterEntries()))
	case mixColumn:
		m.OpenDialog(s.mixQuestion(m, d.Mix.String()))
	case samplingColumn:
		m.OpenDialog(kit.NewChooser(m.th, "Sampling", "choose", "", s.samplingEntries()))
	case seedColumn:
		seed := ""
		if d.Sampling.Seed != 0 {
			seed = fmt.Sprint(d.Sampling.Seed)
		}
		m.OpenDialog(kit.NewQuestion(m.th, "Seed", "Variants without one get the same, which is new.", "take it", seed, false, func(h kit.Host, text string) tea.Cmd {
			return s.set(func(d *draft) error { return setSeed(d, text) })(h)
		}))
	}
	return nil
}

func setSeed(d *draft, text string) error {
	if strings.TrimSpace(text) == "" {
		d.Sampling.Seed = 0
		return nil
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a seed: write a number, or nothing", text)
	}
	d.Sampling.Seed = seed
	return nil
}

func (s *setup) stateEntries() []kit.Entry {
	now := s.drafts[s.row].Base.ID
	list := []kit.Entry{{Title: "none", Detail: "the bare model", Current: now == 0, Choose: s.choose(func(d *draft) { d.Base = turn.State{} })}}
	for _, state := range s.states {
		list = append(list, kit.Entry{
			Title: kit.OneLine(state.Name), Detail: kit.AboutState(state), Current: now == state.ID,
			Choose: s.choose(func(d *draft) { d.Base = state }),
		})
	}
	return list
}

func (s *setup) adapterEntries() []kit.Entry {
	now := s.drafts[s.row].Adapter
	list := []kit.Entry{{Title: "none", Current: now.Name == "", Choose: s.choose(func(d *draft) { d.Adapter = turn.Adapter{} })}}
	for _, a := range s.adapters {
		list = append(list, kit.Entry{
			Title: kit.OneLine(a.Name), Detail: aboutAdapter(a), Current: now.Name == a.Name && now.Fingerprint == a.Fingerprint,
			Choose: s.choose(func(d *draft) { d.Adapter = a.Adapter }),
		})
	}
	return list
}

func aboutAdapter(a turn.RegisteredAdapter) string {
	switch {
	case a.Loaded != nil:
		return "loaded"
	case a.Path == "":
		return "comes with the program"
	}
	return kit.OneLine(a.Path)
}

func (s *setup) samplingEntries() []kit.Entry {
	now := s.drafts[s.row].preset
	var list []kit.Entry
	for _, p := range s.presets {
		list = append(list, kit.Entry{Title: p.Name, Detail: p.About, Current: p.Name == now, Choose: s.choose(func(d *draft) { d.take(p) })})
	}
	return append(list, kit.Entry{Title: "Other parameters…", Detail: parameters(s.drafts[s.row].Sampling), Current: now == "", Choose: askSampling{s}.do})
}

// take gives the variant the parameters of a preset; the seed stays.
func (d *draft) take(p prompt.Preset) {
	seed := d.Sampling.Seed
	d.Sampling, d.preset = p.Sampling, p.Name
	d.Sampling.Seed = seed
}

func (i askSampling) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	s := i.s
	m.OpenDialog(kit.NewQuestion(m.th, "Sampling parameters", parameterNames()+"; what is not named stays.", "take them", parameters(s.drafts[s.row].Sampling), false, func(h kit.Host, text string) tea.Cmd {
		return s.set(func(d *draft) error {
			p, err := parseSampling(d.Sampling, text)
			if err == nil {
				d.Sampling, d.preset = p, presetOf(s.presets, p)
			}
			return err
		})(h)
	}))
	return nil
}

func (s *setup) mixQuestion(m *Model, text string) *kit.Question {
	return kit.NewQuestion(m.th, "Mix of states", "Weights of states, as own=1,dialogue=0.7; own is the run from the variant's state. Empty is none.", "take it", text, false, func(h kit.Host, text string) tea.Cmd {
		return readMix{s, text}.do(h)
	})
}

func (i readMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	s, row := i.s, i.s.row
	if strings.TrimSpace(i.text) == "" {
		s.drafts[row].Mix = turn.Mix{}
		return nil
	}
	return func() tea.Msg {
		mix, err := m.workspace.ParseMix(m.ctx, i.text)
		return mixReadMsg{s, row, i.text, mix, err}
	}
}

// mixReadMsg brings a mix for a variant.
type mixReadMsg struct {
	s    *setup
	row  int
	text string
	mix  turn.Mix
	err  error
}

func (msg mixReadMsg) take(m *Model) tea.Cmd {
	n := len(m.dialogs)
	switch {
	case msg.err != nil && n > 0 && m.dialogs[n-1] == kit.Dialog(msg.s) && msg.row == msg.s.row:
		m.OpenDialog(msg.s.mixQuestion(m, msg.text)) // to be put right
		kit.Refuse(m, msg.err)
	case msg.err != nil:
		msg.s.said = kit.OneLine(msg.err.Error())
	case msg.row < len(msg.s.drafts):
		msg.s.drafts[msg.row].Mix = msg.mix
	}
	return nil
}

func (i fillSetup) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	s := i.s
	if (i.what == keys.SetupModels || i.what == keys.SetupStates || i.what == keys.SetupAdapters) && s.waits(i.do) {
		return nil
	}
	var title string
	var items []kit.Item
	var change func(d *draft, item int)
	switch i.what {
	case keys.SetupModels:
		if len(s.models) < chat.MinCompare {
			s.said = noOtherModels
			return nil
		}
		title = "A variant for each of these models"
		items, change = s.modelItems()
	case keys.SetupStates:
		title = "A variant for each of these states"
		items, change = s.stateItems()
	case keys.SetupAdapters:
		title = "A variant for each of these adapters"
		items, change = s.adapterItems()
	case keys.SetupPresets:
		title = "A variant for each of these presets"
		items, change = s.presetItems()
	default:
		return s.askSeeds(m)
	}
	m.OpenDialog(&kit.Checklist{Title: title, Items: items, Accept: func(h kit.Host, chosen []int) tea.Cmd {
		return alterSetup{s, func(s *setup) error {
			s.fill(len(chosen), func(d *draft, i int) { change(d, chosen[i]) })
			return nil
		}}.do(h)
	}})
	return nil
}

// uses says whether a variant has something.
func (s *setup) uses(has func(d draft) bool) bool { return slices.ContainsFunc(s.drafts, has) }

func (s *setup) stateItems() ([]kit.Item, func(d *draft, item int)) {
	all := append([]turn.State{{}}, s.states...)
	var items []kit.Item
	for _, state := range all {
		used := s.uses(func(d draft) bool { return d.Base.ID == state.ID })
		if state.ID == 0 {
			items = append(items, kit.Item{Title: "none", Detail: "the bare model", Checked: used})
			continue
		}
		items = append(items, kit.Item{Title: kit.OneLine(state.Name), Detail: kit.AboutState(state), Checked: used})
	}
	return items, func(d *draft, i int) { d.Base = all[i] }
}

func (s *setup) adapterItems() ([]kit.Item, func(d *draft, item int)) {
	all := append([]turn.RegisteredAdapter{{}}, s.adapters...)
	var items []kit.Item
	for _, a := range all {
		used := s.uses(func(d draft) bool { return d.Adapter.Name == a.Name && d.Adapter.Fingerprint == a.Fingerprint })
		if a.Name == "" {
			items = append(items, kit.Item{Title: "none", Detail: "the model without one", Checked: used})
			continue
		}
		items = append(items, kit.Item{Title: kit.OneLine(a.Name), Detail: aboutAdapter(a), Checked: used})
	}
	return items, func(d *draft, i int) { d.Adapter = all[i].Adapter }
}

func (s *setup) presetItems() ([]kit.Item, func(d *draft, item int)) {
	all := s.presets
	var items []kit.Item
	for _, p := range all {
		items = append(items, kit.Item{Title: p.Name, Detail: p.About, Checked: s.uses(func(d draft) bool { return d.preset == p.Name })})
	}
	return items, func(d *draft, i int) { d.take(all[i]) }
}

// askSeeds asks how often the selected variant is to answer.
func (s *setup) askSeeds(m *Model) tea.Cmd {
	m.OpenDialog(kit.NewQuestion(m.th, "How many seeds?", "", "fill", fmt.Sprint(max(defaultBest, len(s.drafts))), false, func(h kit.Host, text string) tea.Cmd {
		return alterSetup{s, func(s *setup) error {
			n, err := kit.ParseNumber(kit.OneLine(text), defaultBest)
			if err == nil && (n < chat.MinCompare || n > chat.MaxCompare) {
				err = fmt.Errorf("%d to %d seeds can be compared", chat.MinCompare, chat.MaxCompare)
			}
			if err != nil {
				return err
			}
			first := max(1, s.drafts[s.row].Sampling.Seed)
			s.fill(n, func(d *draft, i int) { d.Sampling.Seed = first + uint64(i) })
			return nil
		}}.do(h)
	}))
	return nil
}
