package keys

// The ids of what is done with mixes of states.
const (
	Mix        ID = "mixer_panel"
	MixPresets ID = "saved_mixes"
	SaveMix    ID = "save_mix"
	Heat       ID = "heat_strip"
)

// mixTable is the part of the table about mixes of states.
var mixTable = []Action{
	{ID: Mix, Title: "Mixer panel", Help: "show or hide the mixer: draw every token from several states, weighted", Category: Sampling, Keys: []string{"f9", "alt+j"}, Contexts: Global, Slash: "mix", Args: "[state=weight,... or off]"},
	{ID: MixPresets, Title: "Saved mixes", Help: "use or delete a mix that was saved", Category: Sampling, Contexts: Global, Slash: "mixes", Args: "[name]"},
	{ID: SaveMix, Title: "Save the mix", Help: "keep the mix of the conversation under a name", Category: Sampling, Contexts: Global, Slash: "save_mix", Args: "[name]"},
	{ID: Heat, Title: "Heat strip", Help: "look at which state of the mix pushed each token of an answer; once more hides it", Category: Sampling, Keys: []string{"alt+shift+j"}, Contexts: Global, Slash: "heat"},
}
