package ui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// act runs an action of the table, with the argument of a slash command.
func (m *Model) act(id keys.ID, arg string) tea.Cmd {
	if id != keys.Interrupt && !m.notice.failed {
		m.notice = notice{}
	}
	run, ok := m.actions[id]
	action, _ := keys.Find(id)
	switch t := m.tab(); {
	case !ok:
		return nil
	case t.opening() && needsConversation(action):
		return m.fail(errOpening)
	case t.holds > 0 && action.Answers:
		t.held = func(kit.Host) tea.Cmd { return run(arg) }
		return m.say("waiting for " + t.heldFor + ", which is still being read")
	}
	return run(arg)
}

// needsConversation says that an action is about the conversations, which are not
// there yet while they are opened. Sending and stopping see to that themselves.
func needsConversation(a keys.Action) bool {
	switch a.Category {
	case keys.Conversation:
		return a.ID != keys.Send && a.ID != keys.Stop
	case keys.Tree, keys.Sampling, keys.Tabs, keys.Comparison:
		return true
	}
	return false
}

// table says what every action does. Editing and list actions are missing:
// they are carried out where the text or the list is.
func (m *Model) table() map[keys.ID]func(string) tea.Cmd {
	table := map[keys.ID]func(string) tea.Cmd{
		keys.Send: m.send, keys.Stop: m.stop, keys.EditLast: m.editLast,
		keys.System:  m.system,
		keys.Suspend: m.suspend,

		keys.Complete:      m.on(func() { m.setFocus(keys.Transcript) }),
		keys.FocusComposer: m.on(func() { m.setFocus(keys.Composer) }),

		keys.NewTab: m.newTab, keys.CloseTab: m.askClose, keys.CloseOthers: m.askCloseOthers, keys.ReopenTab: m.reopen,
		keys.NextTab:     m.stepTab(1),
		keys.PrevTab:     m.stepTab(-1),
		keys.MoveTabUp:   func(string) tea.Cmd { return m.moveTab(-1) },
		keys.MoveTabDown: func(string) tea.Cmd { return m.moveTab(1) },
		keys.Tab9:        m.on(func() { m.goTo(len(m.tabs) - 1) }),

		keys.FocusPanel: m.focusPanel, keys.ClosePanel: m.on(m.closePanel),

		keys.Palette: m.openPalette, keys.Help: m.openHelp, keys.Mouse: m.toggleMouse,
		keys.Redraw: func(string) tea.Cmd { return tea.ClearScreen }, keys.Interrupt: m.interrupt, keys.Quit: m.leave,
	}
	for id, run := range transcript.Actions() {
		table[id] = func(arg string) tea.Cmd { return run(m.tab().transcript, m, arg) }
	}
	for id, run := range composer.Actions() {
		table[id] = func(string) tea.Cmd {
			m.edited()
			return run(m.tab().composer, m)
		}
	}
	for _, f := range m.features {
		for id := range f.Panels {
			table[id] = func(string) tea.Cmd { return m.TogglePanel(id) }
		}
		for id, run := range f.Commands {
			if _, own := table[id]; !own {
				table[id] = func(arg string) tea.Cmd { return m.call(id, arg, run, f.Then[id]) }
			}
		}
		for id, run := range f.Actions {
			command := f.Commands[id]
			table[id] = func(arg string) tea.Cmd {
				if command != nil && arg != "" {
					return m.call(id, arg, command, f.Then[id])
				}
				return run(m, arg)
			}
		}
	}
	for i, id := range []keys.ID{keys.Tab1, keys.Tab2, keys.Tab3, keys.Tab4, keys.Tab5, keys.Tab6, keys.Tab7, keys.Tab8} {
		table[id] = func(string) tea.Cmd { return m.goToTab(i) }
	}
	table[keys.Continue] = m.goOn(table[keys.Continue])
	return table
}

// on is an action that takes no argument and starts nothing.
func (m *Model) on(do func()) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		do()
		return nil
	}
}

// call gives a command of a room to the conversation, and shows what it has done.
func (m *Model) call(id keys.ID, arg string, run func(kit.Call) (string, error), then func(kit.Tab)) tea.Cmd {
	t := m.tab()
	if t.Dialogue() == nil {
		return m.fail(errOpening)
	}
	said, err := run(kit.Call{ID: id, Arg: arg, Dialogue: t.Dialogue(), Turn: t.transcript.Target(), Selected: t.SelectedTurn(), Model: m.model, Presets: m.presets()})
	if err == nil && then != nil {
		then(t)
	}
	return tea.Batch(m.report(said, err), m.Refresh())
}

// send sends the prompt, or runs the slash command that it is.
func (m *Model) send(string) tea.Cmd {
	t, c := m.tab(), m.tab().composer
	if c.BreakLine() {
		m.edited()
		return nil
	}
	prompt := c.Text()
	if prompt == "" {
		return nil
	}
	if edited, _ := c.Edited(); edited.Answer {
		return m.sendAnswer(prompt, false)
	}
	name, arg, text, isCommand := composer.ParseCommand(prompt)
	if isCommand {
		return m.slash(name, arg)
	}
	if t.holds > 0 {
		return m.fail(errors.New(t.heldFor + " is still being read: send it again"))
	}
	if t.opening() {
		return m.fail(errOpening)
	}
	if reading := m.sendWithFiles(t); reading != nil {
		return reading
	}
	return m.sendText(t, text, text)
}

// sendText sends the prompt of a tab; written is what the history keeps of it.
func (m *Model) sendText(t *tab, text, written string) tea.Cmd {
	var err error
	switch edited, editing := t.composer.Edited(); {
	case edited.Turn != 0:
		err = t.d.EditTurn(edited.Turn, text)
	case editing:
		err = t.d.EditLast(text)
	default:
		err = t.d.Send(text)
	}
	if err != nil {
		return m.fail(err)
	}
	t.composer.Clear()
	m.edited()
	m.notice = notice{}
	m.history.Add(written)
	t.transcript.ScrollToEnd()
	m.saveLayout()
	return tea.Batch(m.look(), m.tick())
}

// slash runs a slash command.
func (m *Model) slash(name, arg string) tea.Cmd {
	a, ok := keys.Slash(name)
	if !ok {
		return m.fail(errors.New("there is no command /" + name + "; type / to see all, or // to send a text that begins with /"))
	}
	if a.NeedsArgument() && arg == "" {
		return m.fail(errors.New("write " + a.Usage()))
	}
	t := m.tab()
	prompt := t.composer.Text()
	t.composer.Clear()
	m.notice = notice{}
	cmd := m.act(a.ID, arg)
	if m.notice.failed && arg != "" && t.composer.Empty() {
		t.composer.Fill(prompt) // to be put right
	}
	m.edited()
	return cmd
}

// stop takes away, one press at a time, what stands between the person and
// the prompt: what the screen says that it takes away, then a running answer.
func (m *Model) stop(string) tea.Cmd {
	t := m.tab()
	switch {
	case m.notice.failed:
		m.notice = notice{}
	case t.transcript.ClearMarks():
	case t.generating():
		t.d.Stop()
		return m.look()
	case m.notice.text != "":
		m.notice = notice{}
	case t.transcript.EndSearch():
	case m.focus == keys.Transcript:
		m.setFocus(keys.Composer)
	case m.panel.open() && m.place.panel.width == m.width: // it covers the messages
		m.closePanel()
	case t.composer.Editing():
		t.composer.Clear()
		m.edited()
	default:
		t.transcript.Deselect()
	}
	return nil
}

// editLast puts the last prompt into the composer, or sends another one in its
// place at once.
func (m *Model) editLast(arg string) tea.Cmd {
	t := m.tab()
	if arg != "" {
		err := t.d.EditLast(arg)
		return tea.Batch(m.report("", err), m.look(), m.tick())
	}
	if t.generating() {
		return m.fail(errors.New("an answer is running; stop it first"))
	}
	prompt, ok := t.selectedPrompt()
	if !ok {
		return m.fail(errors.New("there is no prompt to edit yet"))
	}
	e := composer.Edited{}
	if _, selected := t.transcript.Selected(); selected {
		e.Turn = prompt.ID
	}
	t.composer.BeginEdit(e, prompt.Text)
	m.setFocus(keys.Composer)
	m.edited()
	return nil
}

// leave ends the program. The workspace stops what runs and saves it when its
// owner closes it.
func (m *Model) leave(string) tea.Cmd {
	m.leaving = true
	m.saveDrafts()
	m.saveLayout()
	m.quit()
	return tea.Quit
}

// sendAnswer keeps the edited answer, and lets the model go on with it.
func (m *Model) sendAnswer(text string, goOn bool) tea.Cmd {
	t := m.tab()
	edited, _ := t.composer.Edited()
	if err := t.d.EditAnswer(edited.Turn, text, goOn); err != nil {
		return m.fail(err)
	}
	t.composer.Clear()
	m.edited()
	m.notice = notice{}
	t.transcript.ScrollToEnd()
	return tea.Batch(m.look(), m.tick())
}

// goOn continues the answer: the one that is being edited from the cursor on,
// without what stands behind it, or the last.
func (m *Model) goOn(last func(string) tea.Cmd) func(string) tea.Cmd {
	return func(arg string) tea.Cmd {
		c := m.tab().composer
		if edited, _ := c.Edited(); edited.Answer {
			return m.sendAnswer(c.UpToCursor(), true)
		}
		return last(arg)
	}
}
