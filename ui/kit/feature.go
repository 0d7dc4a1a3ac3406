package kit

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
)

// A Feature is what a room adds to the program. A zero field adds nothing.
type Feature struct {
	// Actions are carried out on the screen, with the argument of a slash command.
	// One that is a command too is what happens without an argument.
	Actions map[keys.ID]func(h Host, arg string) tea.Cmd
	// Commands concern one conversation and need no screen: the line mode has
	// them too.
	Commands map[keys.ID]func(c Call) (said string, err error)
	// Then shows on the screen what a command has done.
	Then map[keys.ID]func(t Tab)
	// Panels are shown and put away by actions. One that is among Actions too
	// is left to that.
	Panels map[keys.ID]Panel
	// Strip is drawn above the prompt; at most one room has one.
	Strip Strip
	// Measure is given the engine's figures, a few times a second.
	Measure func(h Host, s infer.Stats)
	// Look is called after each look at the dialogues.
	Look func(h Host) tea.Cmd
}

// A Call is a command given to a conversation.
type Call struct {
	ID       keys.ID
	Arg      string
	Dialogue *chat.Dialogue
	Turn     turn.ID         // the selected turn or the last answer; 0: none
	Selected turn.ID         // the selected turn; 0: none
	Model    *infer.Model    // may be nil
	Presets  []prompt.Preset // of the model and the person's own
}

// A Window is what every dialog has: the size of the screen, and no use for the
// mouse.
type Window struct{ Width, Height int }

// Resize tells the size of the screen.
func (w *Window) Resize(width, height int) { w.Width, w.Height = width, height }

// Wheel does nothing.
func (w *Window) Wheel(int, int, int) Action { return nil }

// Click does nothing.
func (w *Window) Click(int, int) Action { return nil }
