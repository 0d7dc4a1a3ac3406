package keys

import (
	"strings"

	"rookery/infer/sampler"
)

// The ids of what is done with all sampling parameters at once. The action that
// sets one has the parameter's name.
const (
	SamplingPanel ID = "sampling_panel"
	Preset        ID = "preset"
	SavePreset    ID = "save_preset"
	SaveDefault   ID = "save_default"
)

// samplingTable is the part of the table about sampling: an action for each
// parameter that has a command follows from sampler.Fields.
func samplingTable() []Action {
	table := []Action{
		{ID: SamplingPanel, Title: "Sampling panel", Help: "show or hide the sampling parameters", Category: Sampling, Keys: []string{"ctrl+s", "f3"}, Contexts: Global, Slash: "sampling"},
		{ID: Preset, Title: "Choose a sampling preset", Help: "use a named set of sampling parameters", Category: Sampling, Keys: []string{"alt+a"}, Contexts: Global, Slash: "preset", Args: "[name]"},
		{ID: SavePreset, Title: "Save the sampling as a preset", Help: "save the parameters as a preset", Category: Sampling, Keys: []string{"s"}, Contexts: Panel, Slash: "save-preset", Args: "[name]"},
		{ID: SaveDefault, Title: "Save the sampling as the default", Help: "begin new conversations with these parameters", Category: Sampling, Keys: []string{"d"}, Contexts: Panel, Slash: "save-default"},
	}
	for _, f := range sampler.Fields {
		if f.Command != "" {
			table = append(table, parameterAction(f))
		}
	}
	return table
}

func parameterAction(f *sampler.Field) Action {
	title := "Set the " + f.Label
	if strings.Contains(f.Label, "_") { // a name such as top_p
		title = "Set " + f.Label
	}
	a := Action{
		ID: ID(f.Name), Title: title, Help: f.Help, Category: Sampling, Contexts: Global,
		Slash: f.Command, Args: "<" + f.Range() + ">",
	}
	if f.Name != f.Command {
		a.Aliases = []string{f.Name}
	}
	return a
}

// Parameter returns the sampling parameter that an action sets.
func Parameter(id ID) (f *sampler.Field, ok bool) {
	f, ok = sampler.FieldNamed(string(id))
	return f, ok && f.Command != ""
}

// Parameters are the actions that set one sampling parameter.
func Parameters() (ids []ID) {
	for _, f := range sampler.Fields {
		if f.Command != "" {
			ids = append(ids, ID(f.Name))
		}
	}
	return ids
}
