package ui

import (
	"errors"
	"maps"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// act runs an action of the table, with the argument of a slash command.
func (m *Model) act(id keys.ID, arg string) tea.Cmd {
	if id != keys.Interrupt && !m.notice.failed {
		m.notice = notice{}
	}
	run, ok := m.actions[id]
	switch t := m.tab(); {
	case !ok:
		return nil
	case t.opening() && needsConversation(id):
		return m.fail(errOpening)
	case t.holds > 0 && beginsAnswer(id):
		t.held = func(kit.Host) tea.Cmd { return run(arg) }
		return m.say("waiting for " + t.heldFor + ", which is still being read")
	}
	return run(arg)
}

// needsConversation says that an action is about the conversations, which are not
// there yet while they are opened. Sending and stopping see to that themselves.
func needsConversation(id keys.ID) bool {
	a, _ := keys.Find(id)
	switch a.Category {
	case keys.Conversation:
		return id != keys.Send && id != keys.Stop
	case keys.Tree, keys.Sampling, keys.Tabs, keys.Comparison:
		return true
	}
	return false
}

// beginsAnswer says that an action begins answers.
func beginsAnswer(id keys.ID) bool {
	switch id {
	case keys.Retry, keys.Continue, keys.Best, keys.EditLast, keys.Compare, keys.Reread:
		return true
	}
	return false
}

// table says what every action does. Editing and list actions are missing:
// they are carried out where the text or the list is.
func (m *Model) table() map[keys.ID]func(string) tea.Cmd {
	table := map[keys.ID]func(string) tea.Cmd{
		keys.Send: m.send, keys.Stop: m.stop, keys.EditLast: m.editLast,
		keys.System: m.system,

		keys.HistoryFind: m.searchHistory, keys.Editor: m.openEditor,
		keys.Newline:       m.on(func() { m.tab().composer.Insert("\n"); m.edited() }),
		keys.HistoryPrev:   m.on(func() { m.recall(1) }),
		keys.HistoryNext:   m.on(func() { m.recall(-1) }),
		keys.Complete:      m.on(func() { m.setFocus(keys.Transcript) }),
		keys.FocusComposer: m.on(func() { m.setFocus(keys.Composer) }),

		keys.SelectPrev: m.on(func() { m.tab().transcript.selectBy(-1) }),
		keys.SelectNext: m.on(func() { m.tab().transcript.selectBy(1) }),
		keys.ScrollUp:   m.on(func() { m.tab().transcript.scrollBy(-1) }),
		keys.ScrollDown: m.on(func() { m.tab().transcript.scrollBy(1) }),
		keys.PageUp:     m.on(func() { m.page(-1) }),
		keys.PageDown:   m.on(func() { m.page(1) }),
		keys.Top:        m.on(func() { m.tab().transcript.scrollTo(0) }),
		keys.Bottom:     m.on(func() { m.tab().transcript.toEnd() }),
		keys.Fold:       m.fold, keys.CopyMessage: m.copyMessage, keys.CopyCode: m.copyCode, keys.Search: m.search,
		keys.SearchNext: m.on(func() { m.tab().transcript.nextMatch(1) }),
		keys.SearchPrev: m.on(func() { m.tab().transcript.nextMatch(-1) }),

		keys.NewTab: m.newTab, keys.CloseTab: m.askClose, keys.ReopenTab: m.reopen,
		keys.NextTab:     m.on(func() { m.goTo((m.active + 1) % len(m.tabs)) }),
		keys.PrevTab:     m.on(func() { m.goTo((m.active + len(m.tabs) - 1) % len(m.tabs)) }),
		keys.MoveTabUp:   m.on(func() { m.moveTab(-1) }),
		keys.MoveTabDown: m.on(func() { m.moveTab(1) }),
		keys.Tab9:        m.on(func() { m.goTo(len(m.tabs) - 1) }),

		keys.FocusPanel: m.focusPanel, keys.ClosePanel: m.on(m.closePanel),

		keys.Palette: m.openPalette, keys.Help: m.openHelp, keys.Mouse: m.toggleMouse,
		keys.Redraw: func(string) tea.Cmd { return tea.ClearScreen }, keys.Interrupt: m.interrupt, keys.Quit: m.leave,
	}
	maps.Copy(table, m.treeTable())
	for _, f := range m.features {
		for id := range f.Panels {
			table[id] = func(string) tea.Cmd { return m.TogglePanel(id) }
		}
		for id, run := range f.Commands {
			table[id] = func(arg string) tea.Cmd { return m.call(id, arg, run) }
		}
		for id, run := range f.Actions {
			command := f.Commands[id]
			table[id] = func(arg string) tea.Cmd {
				if command != nil && arg != "" {
					return m.call(id, arg, command)
				}
				return run(m, arg)
			}
		}
	}
	for i, id := range []keys.ID{keys.Tab1, keys.Tab2, keys.Tab3, keys.Tab4, keys.Tab5, keys.Tab6, keys.Tab7, keys.Tab8} {
		table[id] = m.on(func() { m.goTo(i) })
	}
	table[keys.Continue] = m.goOn
	for _, id := range []keys.ID{keys.Retry, keys.Reread, keys.PrevSibling, keys.NextSibling} {
		table[id] = func(arg string) tea.Cmd { return m.command(id, arg) }
	}
	return table
}

// on is an action that takes no argument and starts nothing.
func (m *Model) on(do func()) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		do()
		return nil
	}
}

// command runs what concerns the dialogue alone.
func (m *Model) command(id keys.ID, arg string) tea.Cmd {
	t := m.tab()
	turnID := turn.ID(0)
	if b := t.transcript.target(); b != nil {
		turnID = b.turn.ID
	}
	said, err := command(t.d, m.model, m.settings.Presets, id, arg, turnID)
	cmd := m.report(said, err)
	if err == nil {
		switch id {
		case keys.Continue, keys.Retry, keys.Reread:
			t.transcript.toEnd()
		}
	}
	return tea.Batch(cmd, m.look(), m.tick())
}

// call gives a command of a room to the conversation.
func (m *Model) call(id keys.ID, arg string, run func(kit.Call) (string, error)) tea.Cmd {
	if m.tab().Dialogue() == nil {
		return m.fail(errOpening)
	}
	c := kit.Call{ID: id, Arg: arg, Dialogue: m.tab().Dialogue(), Model: m.model, Presets: m.presets()}
	if b := m.tab().transcript.target(); b != nil {
		c.Turn = b.turn.ID
	}
	said, err := run(c)
	return tea.Batch(m.report(said, err), m.Refresh())
}

// send sends the prompt, or runs the slash command that it is.
func (m *Model) send(string) tea.Cmd {
	t, c := m.tab(), m.tab().composer
	if c.breakLine() {
		m.edited()
		return nil
	}
	prompt := c.prompt()
	if prompt == "" {
		return nil
	}
	if c.editing && c.edits.answer {
		return m.sendAnswer(prompt, false)
	}
	name, arg, text, isCommand := parseCommand(prompt)
	if isCommand {
		return m.slash(name, arg)
	}
	if t.holds > 0 {
		return m.fail(errors.New(t.heldFor + " is still being read: send it again"))
	}
	var err error
	switch {
	case c.editing && c.edits.turn != 0:
		err = t.d.EditTurn(c.edits.turn, text)
	case c.editing:
		err = t.d.EditLast(text)
	default:
		err = t.d.Send(text)
	}
	if err != nil {
		return m.fail(err)
	}
	c.clear()
	m.edited()
	m.notice = notice{}
	m.remember(text)
	t.transcript.toEnd()
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
	prompt := t.composer.prompt()
	t.composer.clear()
	m.notice = notice{}
	cmd := m.act(a.ID, arg)
	if m.notice.failed && arg != "" && t.composer.Empty() {
		t.composer.fill(prompt) // to be put right
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
	case t.transcript.marked.active:
		t.transcript.marked = selection{}
	case t.generating():
		t.d.Stop()
		return m.look()
	case m.notice.text != "":
		m.notice = notice{}
	case t.transcript.find.query != "":
		t.transcript.find = finder{}
	case m.focus == keys.Transcript:
		m.setFocus(keys.Composer)
	case m.panel.open() && m.place.panel.width == m.width: // it covers the messages
		m.closePanel()
	case t.composer.editing:
		t.composer.clear()
		m.edited()
	case t.transcript.selected >= 0:
		t.transcript.selected = -1
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
	e := edited{}
	if t.transcript.selected >= 0 {
		e.turn = prompt.ID
	}
	m.edit(prompt.Text, e)
	return nil
}

func (m *Model) page(by int) {
	t := m.tab().transcript
	t.scrollBy(by * max(1, t.height-2))
}

func (m *Model) fold(string) tea.Cmd {
	if !m.tab().transcript.fold() {
		return m.say("there is nothing to fold: only thoughts and long prompts are")
	}
	return nil
}

// interrupt is ctrl+c: it copies what is marked, and pressed twice it quits.
func (m *Model) interrupt(string) tea.Cmd {
	if text := m.tab().transcript.markedText(); text != "" {
		return m.copy(text, "the selection")
	}
	now := m.clock()
	if now.Sub(m.doubted) < noticeStays {
		return m.leave("")
	}
	m.doubted = now
	hint := "press " + m.keymap.Hint(m.focus, keys.Interrupt) + " again to quit"
	if m.tab().generating() {
		hint += "; " + m.keymap.Hint(keys.Composer, keys.Stop) + " stops the answer"
	}
	return m.say(hint)
}

// leave ends the program. The workspace stops what runs and saves it when its
// owner closes it.
func (m *Model) leave(string) tea.Cmd {
	m.leaving = true
	m.saveLayout()
	m.quit()
	return tea.Quit
}
