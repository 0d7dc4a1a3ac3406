package compare

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

// change is an action that changes the setup and closes the dialog above it. If
// the change fails in a question, the question stays open and says why.
func (s *setup) change(do func() error) kit.Action {
	return func(h kit.Host) tea.Cmd {
		s.said = "" // it was about what is changed now
		err := do()
		if err != nil && kit.Refuse(h, err) {
			return nil
		}
		h.CloseDialog()
		if err != nil {
			s.said = kit.OneLine(err.Error())
		}
		return nil
	}
}

// changeRow changes the selected variant.
func (s *setup) changeRow(do func(d *Draft) error) kit.Action {
	return s.change(func() error { return do(&s.drafts[s.row]) })
}

// setRow changes the selected variant in a way that always succeeds.
func (s *setup) setRow(do func(d *Draft)) kit.Action {
	return s.changeRow(func(d *Draft) error {
		do(d)
		return nil
	})
}

func (s *setup) askPrompt(h kit.Host) tea.Cmd {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Prompt to compare answers to", "", "take it", s.prompt, true, func(h kit.Host, text string) tea.Cmd {
		return s.change(func() error {
			s.prompt = strings.TrimSpace(text)
			return nil
		})(h)
	}))
	return nil
}

// waitsFor says that the choices have not come, and an action waits for them.
func (s *setup) waitsFor(a kit.Action) bool {
	if !s.loaded {
		s.next, s.said = a, "Reading what there is."
	}
	return !s.loaded
}

// editCell asks for another value of a column of the selected variant.
func (s *setup) editCell(column int) kit.Action {
	return func(h kit.Host) tea.Cmd {
		if (column == modelColumn || column == baseColumn || column == adapterColumn) && s.waitsFor(s.editCell(column)) {
			return nil
		}
		d := &s.drafts[s.row]
		switch column {
		case nameColumn:
			h.OpenDialog(kit.NewQuestion(h.Theme(), "Name of the variant", "An empty name says what it differs in.", "name", d.Name, false, func(h kit.Host, text string) tea.Cmd {
				return s.setRow(func(d *Draft) { d.Name = kit.OneLine(text) })(h)
			}))
		case modelColumn:
			s.chooseModel(h)
		case baseColumn:
			h.OpenDialog(kit.NewChooser(h.Theme(), "State to begin from", "choose", "", s.stateEntries()))
		case adapterColumn:
			h.OpenDialog(kit.NewChooser(h.Theme(), "Adapter", "choose", "", s.adapterEntries()))
		case mixColumn:
			s.askMix(h, d.Mix.String())
		case samplingColumn:
			h.OpenDialog(kit.NewChooser(h.Theme(), "Sampling", "choose", "", s.samplingEntries()))
		case seedColumn:
			s.askSeed(h)
		}
		return nil
	}
}

func (s *setup) askSeed(h kit.Host) {
	seed := ""
	if now := s.drafts[s.row].Sampling.Seed; now != 0 {
		seed = fmt.Sprint(now)
	}
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Seed", "Variants without one get the same, which is new.", "take it", seed, false, func(h kit.Host, text string) tea.Cmd {
		return s.changeRow(func(d *Draft) (err error) {
			d.Sampling.Seed, err = parseSeed(text)
			return err
		})(h)
	}))
}

// parseSeed reads a seed; an empty text is 0.
func parseSeed(text string) (uint64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a seed: write a number, or nothing", text)
	}
	return seed, nil
}

// chooseModel asks for the model of the selected variant.
func (s *setup) chooseModel(h kit.Host) {
	if len(s.models) == 0 {
		s.said = noOtherModels
		return
	}
	now := s.drafts[s.row].File
	var entries []kit.Entry
	for _, f := range s.models {
		entries = append(entries, kit.Entry{
			Title: kit.OneLine(f.Name), Detail: kit.AboutModel(f), Current: f.Path == now.Path,
			Choose: s.changeRow(func(d *Draft) error {
				if err := f.Err(); err != nil {
					return err
				}
				d.UseModel(f)
				return nil
			}),
		})
	}
	h.OpenDialog(kit.NewChooser(h.Theme(), "Model; others are loaded beside this one", "choose", "", entries))
}

func (s *setup) stateEntries() []kit.Entry {
	now := s.drafts[s.row].Base.ID
	list := []kit.Entry{{Title: "none", Detail: "the bare model", Current: now == 0, Choose: s.setRow(func(d *Draft) { d.Base = turn.State{} })}}
	for _, state := range s.states {
		list = append(list, kit.Entry{
			Title: kit.OneLine(state.Name), Detail: kit.AboutState(state), Current: now == state.ID,
			Choose: s.setRow(func(d *Draft) { d.Base = state }),
		})
	}
	return list
}

func (s *setup) adapterEntries() []kit.Entry {
	now := s.drafts[s.row].Adapter
	list := []kit.Entry{{Title: "none", Current: now.Name == "", Choose: s.setRow(func(d *Draft) { d.Adapter = turn.Adapter{} })}}
	for _, a := range s.adapters {
		list = append(list, kit.Entry{
			Title: kit.OneLine(a.Name), Detail: aboutAdapter(a), Current: now.Name == a.Name && now.Fingerprint == a.Fingerprint,
			Choose: s.setRow(func(d *Draft) { d.Adapter = a.Adapter }),
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
		list = append(list, kit.Entry{Title: p.Name, Detail: p.About, Current: p.Name == now, Choose: s.setRow(func(d *Draft) { d.UsePreset(p) })})
	}
	return append(list, kit.Entry{Title: "Other parameters…", Detail: kit.FormatSampling(s.drafts[s.row].Sampling), Current: now == "", Choose: s.askSampling})
}

// askSampling asks for parameters in the place of the list of presets.
func (s *setup) askSampling(h kit.Host) tea.Cmd {
	h.CloseDialog()
	now := kit.FormatSampling(s.drafts[s.row].Sampling)
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Sampling parameters", parameterNames()+"; what is not named stays.", "take them", now, false, func(h kit.Host, text string) tea.Cmd {
		return s.changeRow(func(d *Draft) error {
			p, err := parseSampling(d.Sampling, text)
			if err == nil {
				d.Sampling, d.preset = p, presetOf(s.presets, p)
			}
			return err
		})(h)
	}))
	return nil
}

func (s *setup) askMix(h kit.Host, text string) {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Mix of states", "Weights of states, as own=1,dialogue=0.7; own is the run from the variant's state. Empty is none.", "take it", text, false, s.readMix))
}

// readMix reads the mix that was written for the selected variant.
func (s *setup) readMix(h kit.Host, text string) tea.Cmd {
	h.CloseDialog()
	row := s.row
	if strings.TrimSpace(text) == "" {
		s.drafts[row].Mix = turn.Mix{}
		return nil
	}
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (turn.Mix, error) { return w.ParseMix(ctx, text) }, func(h kit.Host, mix turn.Mix, err error) tea.Cmd {
		switch {
		case err != nil && kit.OnTop(h, s) && row == s.row:
			s.askMix(h, text) // to be put right
			kit.Refuse(h, err)
		case err != nil:
			s.said = kit.OneLine(err.Error())
		case row < len(s.drafts):
			s.drafts[row].Mix = mix
		}
		return nil
	})
}
