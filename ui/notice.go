package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
	"rookery/untrusted"
)

// A notice is one line about what has just happened. Good news goes by itself,
// an error stays until it is dismissed or something else is done.
type notice struct {
	text   string
	failed bool
	serial int
}

const noticeStays = 4 * time.Second

// say shows a line for a while.
func (m *Model) say(text string) tea.Cmd {
	m.notices++
	serial := m.notices
	m.notice = notice{text: kit.OneLine(text), serial: serial}
	return m.After(noticeStays, m.endNotice(serial))
}

// fail shows an error until it is dismissed.
func (m *Model) fail(err error) tea.Cmd {
	m.notice = notice{text: kit.OneLine(untrusted.Message(err)), failed: true}
	return nil
}

// report shows an error or, if there is none, what was said, if anything.
func (m *Model) report(said string, err error) tea.Cmd {
	switch {
	case err != nil:
		return m.fail(err)
	case said != "":
		return m.say(said)
	}
	return nil
}

// noticeMsg is the result of something that ran in a command.
type noticeMsg struct {
	text string
	err  error
}

func (m *Model) onNotice(msg noticeMsg) tea.Cmd { return m.report(msg.text, msg.err) }

// endNotice takes a notice away if it is still the same one.
func (m *Model) endNotice(serial int) kit.Action {
	return func(kit.Host) tea.Cmd {
		if !m.notice.failed && m.notice.serial == serial {
			m.notice = notice{}
		}
		return nil
	}
}
