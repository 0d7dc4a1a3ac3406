package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

// searchPause is how long nothing may have been typed before the messages are searched.
const searchPause = 150 * time.Millisecond

// pickConversation opens the shelf, narrowed by a text.
func (m *Model) pickConversation(text string) tea.Cmd {
	s := newConversationList(m.th, text, m.clock())
	m.OpenDialog(s)
	search := s.sought()
	return tea.Batch(m.readConversationList(), m.carry(search))
}

// openConversationList is the open shelf, or nil; a question may lie over it.
func (m *Model) openConversationList() *conversationList {
	for _, d := range m.dialogs {
		if s, ok := d.(*conversationList); ok {
			return s
		}
	}
	return nil
}

// readConversationList reads the conversations for the shelf, if it is open.
func (m *Model) readConversationList() tea.Cmd {
	if m.openConversationList() == nil {
		return nil
	}
	return func() tea.Msg {
		list, err := m.workspace.List(m.ctx)
		return conversationsMsg{list, err}
	}
}

func (m *Model) onConversations(msg conversationsMsg) tea.Cmd {
	s := m.openConversationList()
	if s == nil {
		return nil
	}
	if msg.err != nil {
		s.failed = kit.OneLine(msg.err.Error())
		return nil
	}
	open := map[turn.ID]bool{}
	for i, c := range msg.list {
		for _, t := range m.tabs {
			if t.d.ID() == c.ID {
				open[c.ID] = true
				msg.list[i] = t.d.View().Conversation // may be newer than what is stored
			}
		}
	}
	s.setList(shelved(msg.list), open, len(m.binned) > 0)
	return nil
}

// onSearchDue searches unless more has been typed.
func (m *Model) onSearchDue(msg searchDueMsg) tea.Cmd {
	if s := m.openConversationList(); s == nil || s.serial != msg.serial {
		return nil
	}
	return func() tea.Msg {
		found, err := m.workspace.Search(m.ctx, msg.query)
		return foundMsg{msg.serial, found, err}
	}
}

func (m *Model) onFound(msg foundMsg) {
	if s := m.openConversationList(); s != nil && s.serial == msg.serial {
		s.setFound(msg.found, msg.err)
	}
}

// shelve does what the shelf wants done.
func (m *Model) shelve(i any) tea.Cmd {
	switch i := i.(type) {
	case searchStored:
		return m.after(searchPause, searchDueMsg(i))
	case openFound:
		m.CloseDialog()
		return m.openFound(i.found)
	case setPinned:
		return m.setPinned(i.c, i.pinned)
	case setArchived:
		return m.setArchived(i.c, i.archived)
	case throwAway:
		return m.throwAway(i.c)
	case takeBack:
		return m.takeBack(m.unthrow(i.c))
	case takeBackLast:
		return m.takeBackLast("")
	case askEmptyBin:
		m.OpenDialog(&kit.Confirmation{Title: "Empty the bin?", Text: conversations(i.n) + " removed for good.", Verb: "empty", Accept: carried(emptyBin{})})
	case emptyBin:
		m.CloseDialog()
		m.binned = nil
		return func() tea.Msg {
			n, err := m.workspace.EmptyBin(m.ctx)
			return shelvedMsg{conversations(n) + " removed", err}
		}
	case askDelete:
		m.OpenDialog(&kit.Confirmation{
			Title: "Delete the conversation?", Text: fmt.Sprintf("“%s” and all its versions are removed for good.", titleOf(i.c)),
			Verb: "delete", Accept: carried(deleteStored(i)),
		})
	case deleteStored:
		m.CloseDialog()
		m.unthrow(i.c)
		return m.onConversationList("deleted “"+titleOf(i.c)+"” for good", func(ctx context.Context) error { return m.workspace.Delete(ctx, i.c.ID) })
	}
	return nil
}

func conversations(n int) string {
	if n == 1 {
		return "1 conversation is"
	}
	return kit.FormatCount(n) + " conversations are"
}

// onConversationList changes what is stored, and reads the shelf again.
func (m *Model) onConversationList(said string, change func(context.Context) error) tea.Cmd {
	return func() tea.Msg { return shelvedMsg{said, change(m.ctx)} }
}

func (m *Model) onShelved(msg shelvedMsg) tea.Cmd {
	return tea.Batch(m.report(msg.said, msg.err), m.look(), m.readConversationList())
}

func (m *Model) setPinned(c turn.Conversation, pinned bool) tea.Cmd {
	said := "pinned “" + titleOf(c) + "”"
	if !pinned {
		said = "unpinned “" + titleOf(c) + "”"
	}
	return m.onConversationList(said, func(ctx context.Context) error { return m.workspace.SetPinned(ctx, c.ID, pinned) })
}

func (m *Model) setArchived(c turn.Conversation, archived bool) tea.Cmd {
	said := "“" + titleOf(c) + "” is in the archive"
	if !archived {
		said = "“" + titleOf(c) + "” is in the list again"
	}
	if s := m.openConversationList(); s != nil {
		s.alter(c.ID, func(c *turn.Conversation) { c.Archived = archived })
	}
	return m.onConversationList(said, func(ctx context.Context) error { return m.workspace.SetArchived(ctx, c.ID, archived) })
}

// pin and archive are about the conversation of the active tab.
func (m *Model) pin(string) tea.Cmd {
	return m.ofTab(func(c turn.Conversation) tea.Cmd { return m.setPinned(c, !c.Pinned) })
}

func (m *Model) archive(string) tea.Cmd {
	return m.ofTab(func(c turn.Conversation) tea.Cmd { return m.setArchived(c, !c.Archived) })
}

func (m *Model) throwTabAway(string) tea.Cmd { return m.ofTab(m.throwAway) }

// ofTab does something about the conversation of the active tab.
func (m *Model) ofTab(do func(turn.Conversation) tea.Cmd) tea.Cmd {
	t := m.tab()
	if t.empty() || t.view.Loading {
		return m.fail(errors.New("nothing is stored of this conversation yet"))
	}
	return do(t.view.Conversation)
}

// rename gives a conversation, open or stored, a title.
func (m *Model) rename(id turn.ID, title string) tea.Cmd {
	return m.onConversationList("renamed to “"+title+"”", func(ctx context.Context) error { return m.workspace.SetTitle(ctx, id, title) })
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

func titleOf(c turn.Conversation) string {
	if c.Title == "" {
		return "New chat"
	}
	const enough = 200 // bytes: no screen shows more
	return kit.OneLine(strings.ToValidUTF8(c.Title[:min(len(c.Title), enough)], ""))
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
