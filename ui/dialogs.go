package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/prompt"
	"rookery/ui/keys"
)

// open puts a dialog on top.
func (m *Model) open(d dialog) {
	d.resize(m.width, m.height)
	m.dialogs = append(m.dialogs, d)
}

// shut takes the topmost dialog away.
func (m *Model) shut() {
	if n := len(m.dialogs); n > 0 {
		m.dialogs = m.dialogs[:n-1]
	}
}

// carryOut does what a dialog wants done.
func (m *Model) carryOut(i intent) tea.Cmd {
	t := m.tab()
	switch i := i.(type) {
	case treeIntent:
		return i.carryOut(m)
	case done:
		m.shut()
	case run:
		m.shut()
		return m.act(i.id, i.arg)
	case setSystem:
		m.shut()
		return m.report("", t.d.SetSystem(i.text))
	case openStored:
		m.shut()
		return m.openStored(i.id, m.active+1)
	case askRename:
		id := i.c.ID
		m.open(newQuestion(m.th, "Rename the conversation", "", "rename", i.c.Title, false, func(text string) intent {
			return rename{id, oneLine(text)}
		}))
	case rename:
		m.shut()
		return m.rename(i.id, i.title)
	case stateIntent:
		return m.carryOutState(i)
	case closeTab:
		m.shut()
		return m.closeTab()
	case usePrompt:
		m.shut()
		t.composer.fill(i.text)
		m.edited()
	case find:
		t.transcript.search(i.query)
	case keepFound:
		m.shut()
		if len(t.transcript.find.matches) > 0 {
			m.setFocus(keys.Transcript)
		}
	case dropFound:
		m.shut()
		t.transcript.find = finder{}
	default:
		return m.shelve(i)
	}
	return nil
}

// openPalette lists every action that makes sense from there.
func (m *Model) openPalette(string) tea.Cmd {
	var entries []entry
	for _, a := range keys.Actions() {
		if a.Hidden || a.Category == keys.Editing || a.Category == keys.Lists {
			continue
		}
		e := entry{title: a.Title, detail: m.keymap.Hint(keys.Composer, a.ID), choose: run{id: a.ID}}
		if e.detail == "" && a.Slash != "" {
			e.detail = "/" + a.Slash
		}
		if a.NeedsArgument() {
			e.choose = usePrompt{"/" + a.Slash + " "}
		}
		entries = append(entries, e)
	}
	m.open(newChooser(m.th, "Commands", "run", "", entries))
	return nil
}

func (m *Model) openHelp(string) tea.Cmd {
	about := []string{strings.TrimSpace("Rookery " + m.version)}
	if m.dataDir != "" {
		about = append(about, "Conversations are kept in "+m.dataDir)
	}
	about = append(about, "Every key can be changed in the [keys] table of the configuration.")
	m.open(&helpSheet{th: m.th, keymap: m.keymap, about: about, from: m.helpFrom()})
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
	m.open(newQuestion(m.th, "System prompt", about, "save", t.view.Conversation.System, true, func(text string) intent {
		return setSystem{strings.TrimSpace(text)}
	}))
	return nil
}

func (m *Model) think(arg string) tea.Cmd {
	if arg != "" {
		return m.command(keys.Think, arg)
	}
	var entries []entry
	modes := prompt.ThinkModes(m.model)
	if len(modes) == 1 {
		return m.fail(errNoThinking(m.model))
	}
	for _, mode := range modes {
		entries = append(entries, entry{
			title: string(mode), detail: aboutThinking[mode], choose: run{keys.Think, string(mode)},
			current: m.tab().view.Conversation.Think == mode,
		})
	}
	m.open(newChooser(m.th, "Thinking mode, from the next turn on", "choose", "", entries))
	return nil
}

func (m *Model) preset(arg string) tea.Cmd {
	if arg != "" {
		return m.command(keys.Preset, arg)
	}
	var entries []entry
	for _, p := range m.presets() {
		entries = append(entries, entry{
			title: p.Name, detail: p.About, choose: run{keys.Preset, p.Name},
			current: m.tab().view.Conversation.Preset == p.Name,
		})
	}
	m.open(newChooser(m.th, "Sampling preset, from the next token on", "choose", "This model has no presets.", entries))
	return nil
}

// search opens the line for a search, or searches for an argument at once.
func (m *Model) search(arg string) tea.Cmd {
	t := m.tab().transcript
	query := t.find.query
	if arg != "" {
		query = arg
	}
	m.open(newSearchBar(m.th, query, func() (int, int) {
		f := &m.tab().transcript.find
		return f.current + 1, len(f.matches)
	}))
	t.search(query)
	return nil
}

func (m *Model) toggleMouse(string) tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.say("the mouse scrolls, selects and copies; hold shift to select with the terminal")
	}
	return m.say("the mouse is the terminal's again")
}
