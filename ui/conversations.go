package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
)

// pickConversation lists the stored conversations, narrowed by a text.
func (m *Model) pickConversation(text string) tea.Cmd {
	return func() tea.Msg {
		list, err := m.desk.List(m.ctx)
		return conversationsMsg{list, text, err}
	}
}

func (m *Model) onConversations(msg conversationsMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	now := m.clock()
	var entries []entry
	for _, c := range msg.list {
		for _, t := range m.tabs {
			if t.d.ID() == c.ID {
				c = t.view.Conversation // may be newer than what is stored
			}
		}
		e := entry{
			title: titleOf(c), detail: ago(now, c.Updated), choose: openStored{c.ID},
			remove: askDelete{c}, rename: askRename{c},
		}
		for _, t := range m.tabs {
			e.current = e.current || t.d.ID() == c.ID
		}
		entries = append(entries, e)
	}
	c := newChooser(m.th, "Conversations", "open", "Nothing is stored yet: a conversation is kept from its first prompt on.", entries)
	c.selected = 0
	if msg.text != "" {
		c.press("", msg.text)
	}
	m.open(c)
	return nil
}

// deleteStored removes a conversation for good, and its tab.
func (m *Model) deleteStored(c chat.Conversation) tea.Cmd {
	for i, t := range m.tabs {
		if t.d.ID() == c.ID {
			m.active = i
			m.closeTab()
			m.forget(c.ID)
			break
		}
	}
	return func() tea.Msg { return deletedMsg{titleOf(c), m.desk.Delete(m.ctx, c.ID)} }
}

// forget takes a conversation from those that can be reopened.
func (m *Model) forget(id chat.ID) {
	kept := m.closed[:0]
	for _, c := range m.closed {
		if c.id != id {
			kept = append(kept, c)
		}
	}
	m.closed = kept
}

func (m *Model) onDeleted(msg deletedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return tea.Batch(m.say("deleted “"+msg.title+"”"), m.pickConversation(""))
}

// rename gives a conversation a title; one that is only stored is opened for
// that and shut again.
func (m *Model) rename(id chat.ID, title string) tea.Cmd {
	if title == "" {
		return m.fail(errors.New("a title needs at least one character"))
	}
	for _, t := range m.tabs {
		if t.d.ID() == id {
			err := t.d.SetTitle(title)
			return tea.Batch(m.report("", err), m.look())
		}
	}
	return func() tea.Msg {
		d := m.desk.Open(id)
		err := loaded(m.ctx, d)
		if err == nil {
			err = d.SetTitle(title)
		}
		if err != nil {
			err = fmt.Errorf("renaming to “%s”: %w", title, err)
		}
		return renamedMsg{d, title, err}
	}
}

// onRenamed shuts what was opened for its title only.
func (m *Model) onRenamed(msg renamedMsg) tea.Cmd {
	for _, t := range m.tabs {
		if t.d.ID() == msg.d.ID() {
			return m.report("", msg.err)
		}
	}
	m.desk.Shut(msg.d)
	return m.report("renamed to “"+msg.title+"”", msg.err)
}

// loaded waits until a dialogue has been read from the store.
func loaded(ctx context.Context, d dialogue) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for d.View().Loading {
		select {
		case <-ctx.Done():
			return errors.New("the conversation could not be read in time; try again")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return d.View().Err
}

func titleOf(c chat.Conversation) string {
	if c.Title == "" {
		return "New chat"
	}
	const enough = 200 // bytes: no screen shows more
	return oneLine(strings.ToValidUTF8(c.Title[:min(len(c.Title), enough)], ""))
}

// ago says when something was, roughly.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	switch d := now.Sub(then); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return then.Format("2006-01-02")
}
