package ui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A saver keeps sampling parameters: as a preset or, with an empty name, as what
// new conversations begin with. It blocks.
type saver func(name string, p sampler.Params) error

var errNoSaver = errors.New("there is no configuration to save to")

// save checks what is to be kept and keeps it; said tells the person.
func (s saver) save(name string, p sampler.Params) (said string, err error) {
	if s == nil {
		return "", errNoSaver
	}
	if name == "" {
		return "new conversations begin with these parameters", s(name, p)
	}
	if err := prompt.CheckPresetName(name); err != nil {
		return "", err
	}
	return "saved as preset " + name, s(name, p)
}

// presets are the model's and the person's own.
func (m *Model) presets() []prompt.Preset { return prompt.Presets(m.model, m.settings.Presets...) }

// savePreset asks for a name, or takes it.
type savePreset struct{ name string }

func (i savePreset) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	if err := prompt.CheckPresetName(i.name); err != nil && kit.Refuse(m, err) {
		return nil
	}
	m.CloseDialog()
	return m.keepSampling(i.name)
}

// presetSavedMsg says that a preset is in the configuration, or why not.
type presetSavedMsg struct {
	d    dialogue
	name string
	p    sampler.Params
	said string
	err  error
}

// askPresetName saves the parameters of the conversation as a preset.
func (m *Model) askPresetName(arg string) tea.Cmd {
	if name := kit.OneLine(arg); name != "" {
		return m.keepSampling(name)
	}
	name := m.tab().view.Conversation.Preset
	if prompt.CheckPresetName(name) != nil {
		name = ""
	}
	m.OpenDialog(kit.NewQuestion(m.th, "Save the sampling parameters as a preset", "Its name, for /preset and the sampling panel.", "save", name, false, func(h kit.Host, text string) tea.Cmd {
		return savePreset{kit.OneLine(text)}.do(h)
	}))
	return nil
}

// saveDefault makes the parameters those of new conversations.
func (m *Model) saveDefault(string) tea.Cmd {
	s, p := m.saver, m.tab().view.Conversation.Sampling
	return func() tea.Msg {
		said, err := s.save("", p)
		return noticeMsg{said, err}
	}
}

// keepSampling saves the parameters of the conversation under a name.
func (m *Model) keepSampling(name string) tea.Cmd {
	if err := prompt.CheckPresetName(name); err != nil {
		return m.fail(err)
	}
	s, d, p := m.saver, m.tab().d, m.tab().view.Conversation.Sampling
	return func() tea.Msg {
		said, err := s.save(name, p)
		return presetSavedMsg{d, name, p, said, err}
	}
}

// onPresetSaved makes the preset known, before the configuration is read again,
// and gives its name to the conversation that it is from.
func (m *Model) onPresetSaved(msg presetSavedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.settings.Presets = withPreset(m.settings.Presets, msg.name, msg.p)
	m.panel.sampling.SetPresets(m.presets())
	return tea.Batch(m.report(msg.said, msg.d.SetSampling(msg.p, msg.name)), m.look())
}

// withPreset puts a preset into a list, in the place of one of its name.
func withPreset(list []prompt.Preset, name string, p sampler.Params) []prompt.Preset {
	var out []prompt.Preset
	for _, q := range list {
		if q.Name != name {
			out = append(out, q)
		}
	}
	return append(out, prompt.OwnPreset(name, p))
}

// keepSampling is that of the line mode.
func (p *plain) keepSampling(id keys.ID, arg string) error {
	name := kit.OneLine(arg)
	if id == keys.SaveDefault {
		name = ""
	} else if name == "" {
		return errors.New("write /save-preset and a name")
	}
	c := p.d.View().Conversation
	said, err := p.saver.save(name, c.Sampling)
	if err == nil && name != "" {
		p.own = withPreset(p.own, name, c.Sampling)
		err = p.d.SetSampling(c.Sampling, name)
	}
	if err != nil {
		return err
	}
	p.say(said + ".")
	return nil
}
