package kit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"charm.land/bubbles/v2/spinner"

	"rookery/chat/turn"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/theme"
)

// TitleOf is what a conversation is called on the screen.
func TitleOf(c turn.Conversation) string {
	if c.Title == "" {
		return "New chat"
	}
	const enough = 200 // bytes: no screen shows more
	return OneLine(strings.ToValidUTF8(c.Title[:min(len(c.Title), enough)], ""))
}

// AboutState is what a list says of a state.
func AboutState(s turn.State) string {
	what := string(s.Kind)
	if s.Read > 0 {
		what += " · " + FormatCount(s.Read) + " tokens"
	}
	model := s.ModelName
	if model == "" {
		model = fmt.Sprintf("%d layers of %d", s.Shape.Layers, s.Shape.Embed)
	}
	if s.AdapterName != "" {
		model += " with " + s.AdapterName
	}
	return what + " · " + OneLine(model) + " · " + FormatSize(s.Bytes)
}

// AboutMix is the mix that an answer was drawn from, "" for none.
func AboutMix(t turn.Turn) string {
	if !t.Mix.Active() {
		return ""
	}
	return "mix " + OneLine(t.Mix.String())
}

// LastAnswer is the last answer of a line of turns.
func LastAnswer(turns []turn.Turn) (turn.Turn, bool) {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == turn.RoleAssistant {
			return turns[i], true
		}
	}
	return turn.Turn{}, false
}

// FormatAge says how long ago something was, roughly.
func FormatAge(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	switch d := now.Sub(then); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return then.Format("2006-01-02")
}

// HintFor is the key of an action for a sentence, or its slash command.
func HintFor(h Host, id keys.ID) string { return HintIn(h.Keymap(), id) }

// HintIn is the key that a keymap has for an action, or the slash command.
func HintIn(m keys.Map, id keys.ID) string {
	if key := m.Hint(keys.Composer, id); key != "" {
		return key
	}
	a, _ := keys.Find(id)
	return "/" + a.Slash
}

// BlockStyle is how bars and areas are drawn in a theme.
func BlockStyle(th theme.Theme) graph.Style {
	if th.Glyphs.Braille {
		return graph.Blocks
	}
	return graph.ASCII
}

// SpinnerPicture is the n-th picture of the spinner in a theme.
func SpinnerPicture(th theme.Theme, n int) string {
	pictures := spinner.MiniDot.Frames
	if !th.Glyphs.Braille {
		pictures = spinner.Line.Frames
	}
	return pictures[n%len(pictures)]
}

// ExpandHome puts the home directory in the place of a tilde at the beginning
// of a path.
func ExpandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
