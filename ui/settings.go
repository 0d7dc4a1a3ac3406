package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// settingsMsg brings a changed configuration.
type settingsMsg Settings

// awaitSettings waits for a changed configuration.
func (m *Model) awaitSettings() tea.Cmd {
	reload, quit := m.reload, m.ctx.Done()
	if reload == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case s, open := <-reload:
			if open {
				return settingsMsg(s)
			}
		case <-quit:
		}
		return nil
	}
}

// onSettings takes over a changed configuration; one that is wrong is shown
// and changes nothing.
func (m *Model) onSettings(s Settings) tea.Cmd {
	next := m.awaitSettings()
	if s.Err != nil {
		return tea.Batch(next, m.fail(fmt.Errorf("the configuration was not read again: %w", s.Err)))
	}
	if err := s.Validate(); err != nil {
		return tea.Batch(next, m.fail(fmt.Errorf("the configuration was not taken over: %w", err)))
	}
	if err := m.applySettings(s); err != nil {
		return tea.Batch(next, m.fail(err))
	}
	cmds := []tea.Cmd{next}
	if m.notice.text == "" || m.notice.failed { // what was saved is said already
		cmds = append(cmds, m.say("the configuration was read again"))
	}
	if s.Appearance == "" || s.Appearance == "auto" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// applySettings puts settings to use. What is wrong is left at its default and
// returned as an error.
func (m *Model) applySettings(s Settings) error {
	err := s.Validate()
	keymap, wrong := keys.New(s.Keys)
	if wrong != nil {
		keymap = keys.Default()
	}
	m.keymap, m.settings, m.mouse = keymap, s, s.Mouse
	switch s.Appearance {
	case "dark":
		m.dark = true
	case "light":
		m.dark = false
	}
	m.applyTheme()
	return err
}

// setBackground is the terminal's answer about its background.
func (m *Model) setBackground(dark bool) {
	if m.settings.Appearance == "dark" || m.settings.Appearance == "light" || dark == m.dark {
		return
	}
	m.dark = dark
	m.applyTheme()
}

// applyTheme dresses everything anew.
func (m *Model) applyTheme() {
	th, err := theme.New(m.settings.Theme, m.dark)
	if err != nil {
		th = defaultTheme(m.dark)
	}
	if m.ascii {
		th = th.WithGlyphs(theme.ASCIIGlyphs())
	}
	m.th = th
	for _, p := range m.panel.all {
		p.SetTheme(th)
	}
	for _, t := range m.tabs {
		t.composer.SetTheme(th)
		t.transcript.SetLooks(th, m.keymap)
	}
}

// defaultTheme is there whatever the settings say.
func defaultTheme(dark bool) theme.Theme {
	th, err := theme.New(theme.Default, dark)
	if err != nil {
		panic("ui: the default theme is missing: " + err.Error())
	}
	return th
}
