package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/compare"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/library"
	"rookery/ui/panel"
	"rookery/ui/persona"
	"rookery/ui/states"
	"rookery/ui/theme"
	"rookery/ui/tree"
)

// The model is the host of the features.
var _ kit.Host = (*Model)(nil)

// Context ends with the program.
func (m *Model) Context() context.Context { return m.ctx }

// Workspace is all that is open.
func (m *Model) Workspace() *chat.Workspace { return m.workspace }

// Model is what the engine runs, or nil.
func (m *Model) Model() *infer.Model { return m.model }

// Presets are the model's and the person's own.
func (m *Model) Presets() []prompt.Preset { return m.presets() }

func (m *Model) presets() []prompt.Preset { return prompt.Presets(m.model, m.settings.Presets...) }

// AddPreset makes a preset of the person known.
func (m *Model) AddPreset(p prompt.Preset) {
	m.settings.Presets = prompt.AddPreset(m.settings.Presets, p)
}

// Now is the time.
func (m *Model) Now() time.Time { return m.clock() }

// After carries an action out later.
func (m *Model) After(d time.Duration, a kit.Action) tea.Cmd { return m.after(d, a) }

// Theme is how things are drawn.
func (m *Model) Theme() theme.Theme { return m.th }

// Keymap is the keys in use.
func (m *Model) Keymap() keys.Map { return m.keymap }

// Colourless says that the terminal shows no colours.
func (m *Model) Colourless() bool { return m.colourless }

// Tab is the active tab.
func (m *Model) Tab() kit.Tab { return m.tab() }

// Tabs are all tabs in order.
func (m *Model) Tabs() []kit.Tab {
	all := make([]kit.Tab, len(m.tabs))
	for i, t := range m.tabs {
		all[i] = t
	}
	return all
}

// OpenTab opens tabs after the active one and shows the first of them.
func (m *Model) OpenTab(dialogues ...*chat.Dialogue) tea.Cmd {
	at := m.active + 1
	for i, d := range dialogues {
		m.insertTab(at+i, d)
	}
	m.goTo(at)
	return m.Refresh()
}

// BeginTab shows a new conversation in the active tab if nothing was said there.
func (m *Model) BeginTab(d *chat.Dialogue) tea.Cmd {
	t := m.tab()
	if !t.Empty() || t.generating() || t.view.Loading {
		return m.OpenTab(d)
	}
	typed := t.composer
	m.saveDraft(t.d.ID(), turn.Draft{})
	m.workspace.CloseDialogue(t.d)
	m.tabs[m.active] = m.openTab(d)
	m.tab().takePrompt(typed)
	m.setFocus(keys.Composer)
	m.goTo(m.active)
	return m.Refresh()
}

// OpenStored shows a stored conversation.
func (m *Model) OpenStored(id turn.ID) tea.Cmd { return m.openStored(id, m.active+1) }

// DropTab takes the tab of a conversation away.
func (m *Model) DropTab(id turn.ID) kit.Action {
	m.closed = slices.DeleteFunc(m.closed, func(c closedTab) bool { return c.id == id })
	i := m.findTab(id)
	if i < 0 {
		return nil
	}
	dropped := closedTab{id, i, m.tabs[i].composer}
	m.dropTab(i)
	return func(kit.Host) tea.Cmd { return m.reopenTab(dropped) }
}

// OpenDialog puts a dialog on top.
func (m *Model) OpenDialog(d kit.Dialog) {
	d.Resize(m.width, m.height)
	m.dialogs = append(m.dialogs, d)
}

// CloseDialog takes the topmost dialog away.
func (m *Model) CloseDialog() {
	if n := len(m.dialogs); n > 0 {
		m.dialogs = m.dialogs[:n-1]
	}
}

// CloseDialogs takes all dialogs away.
func (m *Model) CloseDialogs() { m.dialogs = nil }

// RemoveDialog takes a dialog away, wherever it lies.
func (m *Model) RemoveDialog(d kit.Dialog) {
	m.dialogs = slices.DeleteFunc(m.dialogs, func(o kit.Dialog) bool { return o == d })
}

// Dialogs are the open ones, the topmost last.
func (m *Model) Dialogs() []kit.Dialog { return m.dialogs }

// Say shows a line for a while.
func (m *Model) Say(text string) tea.Cmd { return m.say(text) }

// Fail shows an error until it is dismissed.
func (m *Model) Fail(err error) tea.Cmd { return m.fail(err) }

// Run runs an action.
func (m *Model) Run(id keys.ID, arg string) tea.Cmd { return m.act(id, arg) }

// Focus moves the keyboard.
func (m *Model) Focus(c keys.Context) { m.setFocus(c) }

// Refresh looks at the dialogues now.
func (m *Model) Refresh() tea.Cmd { return tea.Batch(m.look(), m.tick()) }

// RememberPrompt puts a prompt that was sent into the history.
func (m *Model) RememberPrompt(text string) {
	m.history.Add(text)
	m.saveLayout()
}

// carry does what a dialog or a panel wants done, if anything.
func (m *Model) carry(a kit.Action) tea.Cmd {
	if a == nil {
		return nil
	}
	return a(m)
}

// features is the table of what the rooms add to the program.
func features(o Options) []kit.Feature {
	return []kit.Feature{
		states.Feature(),
		persona.Feature(o.personas()),
		library.Feature(),
		panel.Feature(panel.Options{Surroundings: o.Surroundings, SaveSampling: o.SaveSampling, Models: o.Models, Reopen: o.Reopen}),
		tree.Feature(),
		compare.Feature(o.Models),
	}
}
