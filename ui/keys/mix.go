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
	{ID: Mix, Title: "Mixer panel", Help: "draw every token from several weighted states", Category: Sampling, Keys: []string{"f9", "alt+j"}, Contexts: Global, Slash: "mix", Args: "[state=weight,... or off]"},
	{ID: MixPresets, Title: "Saved mixes", Help: "use or delete a saved mix", Category: Sampling, Contexts: Global, Slash: "mixes", Args: "[name]"},
	{ID: SaveMix, Title: "Save the mix", Help: "save the mix under a name", Category: Sampling, Contexts: Global, Slash: "save_mix", Args: "[name]"},
	{ID: Heat, Title: "Heat strip", Help: "show which state favoured each token", Category: Sampling, Keys: []string{"alt+shift+j"}, Contexts: Global, Slash: "heat"},
}
