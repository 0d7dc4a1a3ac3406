package panel

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Options are what the panels need of the program's owner. Each may be nil.
type Options struct {
	// Surroundings reads what the monitor shows besides the engine's figures. It
	// may block.
	Surroundings func() Surroundings
	// SaveSampling keeps sampling parameters as a preset or, with an empty name,
	// as what new conversations begin with. It may block.
	SaveSampling func(name string, p sampler.Params) error
	// Models lists the models that can be chosen, and Reopen opens the workspace
	// with the file of one when the program has ended.
	Models func(context.Context) ([]kit.ModelFile, error)
	Reopen func(path string)
}

// Feature is the panels, the heat strip, and the commands that belong to them.
func Feature(o Options) kit.Feature {
	none := theme.Theme{} // until the program has one
	monitor, adapters := NewMonitor(none), NewAdapters(none)
	strip, choice, presets := &heat{}, &models{o.Models, o.Reopen}, presetSaver(o.SaveSampling)
	monitor.read = o.Surroundings
	f := kit.Feature{
		Panels: map[keys.ID]kit.Panel{
			keys.SamplingPanel: NewSampling(none),
			keys.MonitorPanel:  monitor,
			keys.Mix:           NewMixer(none),
			keys.Adapters:      adapters,
		},
		Strip:   strip,
		Measure: monitor.measure,
		Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{
			keys.Adapters:    adapters.open,
			keys.Form:        useForm,
			keys.Heat:        strip.toggle,
			keys.Mix:         useMix,
			keys.MixPresets:  pickMix,
			keys.Models:      choice.pick,
			keys.Preset:      pickPreset,
			keys.SaveDefault: presets.saveDefault,
			keys.SaveMix:     saveMix,
			keys.SavePreset:  presets.savePreset,
			keys.Think:       pickThink,
		},
		Commands: map[keys.ID]func(kit.Call) (string, error){
			keys.Preset: setPreset,
			keys.Think:  setThink,
		},
	}
	for _, id := range keys.Parameters() {
		f.Commands[id] = setParameter
	}
	return f
}

// closePanel puts the open panel away.
func closePanel(h kit.Host) tea.Cmd { return h.Run(keys.ClosePanel, "") }

var errOpening = errors.New("the conversations are still being opened; try again in a moment")

// change does something to the conversation in sight.
func change(h kit.Host, do func(d *chat.Dialogue) error) tea.Cmd {
	d := h.Tab().Dialogue()
	if d == nil {
		return h.Fail(errOpening)
	}
	return tea.Batch(kit.Report(h, "", do(d)), h.Refresh())
}
