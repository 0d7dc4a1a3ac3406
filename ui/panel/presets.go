package panel

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/ui/kit"
)

// A presetSaver keeps sampling parameters: as a preset or, with an empty name, as
// what new conversations begin with. It blocks, and may be nil.
type presetSaver func(name string, p sampler.Params) error

var errNoConfiguration = errors.New("there is no configuration to save to")

// SaveSampling checks what is to be kept and keeps it with save, which may be
// nil; said tells the person. It blocks.
func SaveSampling(save func(string, sampler.Params) error, name string, p sampler.Params) (said string, err error) {
	if save == nil {
		return "", errNoConfiguration
	}
	if name == "" {
		return "new conversations begin with these parameters", save(name, p)
	}
	if err := prompt.CheckPresetName(name); err != nil {
		return "", err
	}
	return "saved as preset " + name, save(name, p)
}

// savePreset keeps the parameters of the conversation as a preset, and asks for
// its name if there is none.
func (s presetSaver) savePreset(h kit.Host, arg string) tea.Cmd {
	if name := kit.OneLine(arg); name != "" {
		return s.keep(h, name)
	}
	name := h.Tab().View().Conversation.Preset
	if prompt.CheckPresetName(name) != nil {
		name = ""
	}
	about := "Its name, for /preset and the sampling panel."
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Save the sampling parameters as a preset", about, "save", name, false, func(h kit.Host, text string) tea.Cmd {
		name := kit.OneLine(text)
		if err := prompt.CheckPresetName(name); err != nil && kit.Refuse(h, err) {
			return nil
		}
		h.CloseDialog()
		return s.keep(h, name)
	}))
	return nil
}

// keep saves the parameters under a name, makes the preset known before the
// configuration is read again, and gives its name to the conversation.
func (s presetSaver) keep(h kit.Host, name string) tea.Cmd {
	if err := prompt.CheckPresetName(name); err != nil {
		return h.Fail(err)
	}
	d, p := h.Tab().Dialogue(), h.Tab().View().Conversation.Sampling
	return kit.Await(func() (string, error) { return SaveSampling(s, name, p) }, func(h kit.Host, said string, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		h.AddPreset(prompt.OwnPreset(name, p))
		return tea.Batch(kit.Report(h, said, d.SetSampling(p, name)), h.Refresh())
	})
}

// saveDefault makes the parameters those of new conversations.
func (s presetSaver) saveDefault(h kit.Host, _ string) tea.Cmd {
	p := h.Tab().View().Conversation.Sampling
	return kit.Await(func() (string, error) { return SaveSampling(s, "", p) }, kit.Report)
}
