package chattest

import (
	"slices"

	"rookery/chat/turn"
)

// Readers are the tokens of a line, as the state after its last turn has read
// them, and for each the adapter that has read it. Those that this state leaves
// unread are there too, read with none.
func Readers(line []turn.Turn) (tokens []int32, by []string) {
	for i, t := range line {
		recalled := t.Recall != nil && i < len(line)-1
		if recalled {
			tokens = slices.Concat(tokens, t.Recall)
		} else {
			tokens = slices.Concat(tokens, t.Tokens)
		}
		switch {
		case recalled: // its own state has read something else
		case len(t.History.Runs) > 0:
			by = each(t.History.Runs)
		case t.Role == turn.RoleAssistant: // it has read itself, and what was left above it
			by = slices.Concat(by, slices.Repeat([]string{t.AdapterID}, max(len(tokens)-len(by), 0)))
		}
	}
	return tokens, slices.Concat(by, make([]string, max(len(tokens)-len(by), 0)))
}

// each are the adapters of the tokens of runs.
func each(runs []turn.Run) (by []string) {
	for _, r := range runs {
		by = append(by, slices.Repeat([]string{r.Adapter}, r.Tokens)...)
	}
	return by
}
