package panel

// A Section is the keys of one panel and what they do.
type Section struct {
	Title string
	Keys  [][2]string
}

// Help are the keys that the panels have for themselves, beside those of the
// action table. A title is that of the panel.
var Help = []Section{
	{"Sampling", [][2]string{
		{"up  down", "choose a parameter"},
		{"left  right", "change it; with shift in large steps"},
		{"0-9", "type a value; enter takes it, esc does not"},
		{"enter", "type the value, or go on to the next; keep the seed of the latest answer"},
		{"delete", "a fresh seed; no banned tokens"},
		{"r", "all parameters as the preset has them"},
	}},
	{"Mixer", [][2]string{
		{"up  down", "choose a fader"},
		{"left  right", "move it by 0.05; with shift by 0.25, with ctrl by 1"},
		{"1-9  -", "type a weight; enter takes it, esc does not"},
		{"m  s", "mute the state; let it, and others that are solo, speak alone"},
		{"0", "weight 0: the state reads on and has no say"},
		{"a  x", "add a state of the library; remove this one"},
		{"p  w", "use a saved mix; save this one"},
		{"o", "end the mix"},
	}},
	{"Heat strip", [][2]string{
		{"left  right", "choose a token; with shift ten further"},
		{"home  end", "the first token; the last"},
		{"esc", "back to the prompt"},
	}},
	{"Adapters", [][2]string{
		{"up  down", "choose an adapter"},
		{"enter", "use it in this conversation, from the next token on"},
		{"left  right", "its strength in steps of 0.1; with shift of 0.5"},
		{"0  1", "strength 0; full strength"},
		{"m", "merge it into weights of its own, or put it beside the model's again"},
		{"d  x", "take it out of memory; out of the list"},
		{"a", "load a file"},
	}},
	{"Monitor", [][2]string{
		{"left  right", "show less time, more time"},
		{"up  down", "scroll"},
	}},
}
