package kit

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Host is the program around the features. Its methods are called in Update
// only, on the goroutine that runs it.
type Host interface {
	// Context ends with the program.
	Context() context.Context
	// Workspace is all that is open. What of it takes a context blocks and is
	// called in commands only.
	Workspace() *chat.Workspace
	// Model is what the engine runs; nil if that is not known.
	Model() *infer.Model
	// Presets are those of the model and the person's own.
	Presets() []prompt.Preset
	// AddPreset makes a preset of the person known, in place of one of its name.
	AddPreset(p prompt.Preset)
	Now() time.Time
	// After carries an action out later.
	After(d time.Duration, a Action) tea.Cmd

	Theme() theme.Theme
	Keymap() keys.Map
	// Colourless says that the terminal shows attributes and no colours.
	Colourless() bool

	// Tab is the active tab. There is always one.
	Tab() Tab
	Tabs() []Tab
	// OpenTab opens tabs after the active one and shows the first of them.
	OpenTab(d ...*chat.Dialogue) tea.Cmd
	// BeginTab shows a new conversation in the active tab if nothing was said
	// there, or else as OpenTab.
	BeginTab(d *chat.Dialogue) tea.Cmd
	// OpenStored shows a stored conversation: in its tab, if it has one.
	OpenStored(id turn.ID) tea.Cmd
	// DropTab takes the tab of a conversation away, for good: it cannot be
	// reopened. The action that it returns brings the tab back as it was; nil if
	// there was none.
	DropTab(id turn.ID) Action

	OpenDialog(d Dialog)
	// CloseDialog takes the topmost dialog away, CloseDialogs all of them and
	// RemoveDialog one, wherever it lies.
	CloseDialog()
	CloseDialogs()
	RemoveDialog(d Dialog)
	// Dialogs are the open ones, the topmost last.
	Dialogs() []Dialog

	// Say shows a line for a while, Fail an error until it is dismissed.
	Say(text string) tea.Cmd
	Fail(err error) tea.Cmd
	// Run runs an action of the key table, with the argument of a slash command.
	Run(id keys.ID, arg string) tea.Cmd
	// Focus moves the keyboard.
	Focus(c keys.Context)
	// TogglePanel shows the panel of an action, or puts it away.
	TogglePanel(id keys.ID) tea.Cmd
	// Refresh looks at the dialogues now: something was asked of one.
	Refresh() tea.Cmd
	// RememberPrompt puts a prompt that was sent in the active tab into the
	// history, and remembers that the tab is open.
	RememberPrompt(text string)
}

// A Tab is one tab of the program.
type Tab interface {
	// Dialogue is nil while the program still opens its conversations. No
	// action on a conversation runs before.
	Dialogue() *chat.Dialogue
	// View is what the last frame saw of the dialogue.
	View() chat.View
	Title() string
	// Empty says that nothing was said yet.
	Empty() bool
	// Selected is the selected turn, or the last one.
	Selected() (turn.Turn, bool)
	// SelectedTurn is the selected turn, or 0.
	SelectedTurn() turn.ID
	// SelectedAnswer is the selected turn if it is an answer, or the last answer.
	SelectedAnswer() (turn.Turn, bool)
	// Prompt is where the prompt is written.
	Prompt() Prompt
	// ScrollToEnd shows the end of the messages, ScrollToHead the turn that the
	// conversation goes on from.
	ScrollToEnd()
	ScrollToHead()
	// ShowTurn goes to a turn as soon as it has been read, and marks a text in it.
	ShowTurn(turn turn.ID, text string)
	// Preview shows the line as if the conversation went on after its first n
	// turns; a negative n shows it as it is.
	Preview(n int)
	// Hold keeps back what begins answers here until Release: what they need is
	// still being read. Release returns what was kept back and may begin now, or
	// nil; after an error nothing may.
	Hold(what string)
	Release(err error) Action
}

// A Prompt is where the prompt of a tab is written.
type Prompt interface {
	// Text is what would be sent.
	Text() string
	// Editing says that the text is that of a turn that is being changed.
	Editing() bool
	// Fill replaces the text, Clear takes it away.
	Fill(text string)
	Clear()
	// Change puts the text of a turn there, whatever its size: what is sent then
	// takes its place.
	Change(t turn.Turn)
}
