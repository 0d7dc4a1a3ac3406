package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// openPalette lists every action that makes sense from there.
func (m *Model) openPalette(string) tea.Cmd {
	var entries []kit.Entry
	for _, a := range keys.Actions() {
		if a.Hidden || a.Category == keys.Editing || a.Category == keys.Lists {
			continue
		}
		e := kit.Entry{Title: a.Title, Detail: m.keymap.Hint(keys.Composer, a.ID), Choose: kit.Run(a.ID, "")}
		if e.Detail == "" && a.Slash != "" {
			e.Detail = "/" + a.Slash
		}
		if a.NeedsArgument() {
			e.Choose = kit.FillPrompt("/" + a.Slash + " ")
		}
		entries = append(entries, e)
	}
	m.OpenDialog(kit.NewChooser(m.th, "Commands", "run", "", entries))
	return nil
}

func (m *Model) openHelp(string) tea.Cmd {
	about := []string{strings.TrimSpace("Rookery " + m.version)}
	if m.dataDir != "" {
		about = append(about, "Conversations are kept in "+m.dataDir)
	}
	about = append(about, "Every key can be changed in the [keys] table of the configuration.")
	m.OpenDialog(&helpSheet{th: m.th, keymap: m.keymap, about: about, panels: m.titled(), from: m.helpFrom()})
	return nil
}

func (m *Model) system(arg string) tea.Cmd {
	t := m.tab()
	if arg != "" {
		return m.report("the system prompt is set", t.d.SetSystem(arg))
	}
	about := "What the model is told before the conversation."
	if !t.empty() {
		about += " This conversation is read again with it before the next answer."
	}
	m.OpenDialog(kit.NewQuestion(m.th, "System prompt", about, "save", t.view.Conversation.System, true, func(h kit.Host, text string) tea.Cmd {
		h.CloseDialog()
		return kit.Report(h, "", t.d.SetSystem(strings.TrimSpace(text)))
	}))
	return nil
}

func (m *Model) toggleMouse(string) tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.say("the mouse scrolls, selects and copies; hold shift to select with the terminal")
	}
	return m.say("the mouse is the terminal's again")
}

// awaited is what the topmost dialog asks for after a look at what is new.
func (m *Model) awaited() tea.Cmd {
	if n := len(m.dialogs); n > 0 {
		if d, ok := m.dialogs[n-1].(kit.Looker); ok {
			return d.Look(m)
		}
	}
	return nil
}
