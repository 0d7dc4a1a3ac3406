package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// pressKey gives a key to whoever has the keyboard: the topmost dialog, the
// panel, the menu of slash commands, the action table, and at last the text.
func (m *Model) pressKey(msg tea.KeyPressMsg) tea.Cmd {
	if len(m.dialogs) > 0 {
		return m.pressDialogKey(msg)
	}
	if m.focus == keys.Panel {
		if cmd, taken := m.panelKey(msg); taken {
			return cmd
		}
	}
	id, known := m.keymap.Lookup(m.focus, msg.String())
	if m.focus == keys.Composer && known && m.tab().composer.Press(id) {
		m.edited()
		return nil
	}
	if (id == keys.Undo || id == keys.Redo) && m.focus == keys.Composer {
		if !m.tab().composer.Empty() {
			return m.say("nothing typed is left to " + string(id) + "; in an empty prompt the key moves the conversation")
		}
		m.tab().composer.ForgetUndone() // redo is about the conversation now
	}
	if known {
		return m.act(id, "")
	}
	if m.focus == keys.Composer && msg.Text != "" {
		m.tab().composer.Insert(msg.Text)
		m.edited()
	}
	return nil
}

// edited is called after a change of the prompt: quitting is not half asked for
// any more.
func (m *Model) edited() { m.doubted = time.Time{} }

// pressDialogKey gives a key to the topmost dialog.
func (m *Model) pressDialogKey(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialogs[len(m.dialogs)-1]
	var id keys.ID
	var known bool
	if p, ok := d.(kit.Keyed); ok {
		id, known = m.keymap.Lookup(p.Context(), msg.String())
	}
	if !known {
		id, known = m.keymap.Lookup(keys.List, msg.String())
	}
	if !known {
		id, known = m.keymap.Lookup(keys.Composer, msg.String())
		known = known && kit.IsEdit(id)
	}
	switch {
	case known:
		return m.carry(d.Press(id, ""))
	case msg.Text != "":
		return m.carry(d.Press("", msg.Text))
	}
	return nil
}

// pasteText inserts pasted text where text is written.
func (m *Model) pasteText(text string) tea.Cmd {
	if n := len(m.dialogs); n > 0 {
		if _, ok := m.dialogs[n-1].(*kit.Confirmation); ok {
			return nil // a text is no answer
		}
		return m.carry(m.dialogs[n-1].Press("", text)) // it may be searched for
	}
	m.setFocus(keys.Composer)
	m.tab().composer.Paste(text)
	m.edited()
	return nil
}

// setFocus moves the keyboard.
func (m *Model) setFocus(c keys.Context) {
	m.focus = c
	m.strip.Blur()
	t := m.tab().transcript
	switch c {
	case keys.Transcript:
		t.SelectShown()
	case keys.Composer:
		t.Deselect()
	}
}

// noteFocus is the terminal window coming to the front.
func (m *Model) noteFocus() tea.Cmd {
	m.blurred = false
	m.tab().unread = false
	return m.tick()
}
