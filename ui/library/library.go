package library

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A library is what the room remembers between actions.
type library struct {
	binned []binned // since the start, the last one last
}

// Feature is the list of conversations, and what is done with stored ones.
func Feature() kit.Feature {
	l := &library{}
	return kit.Feature{Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{
		keys.Conversations: l.open, keys.RenameTab: l.renameTab, keys.Export: export, keys.Import: l.importFiles,
		keys.PinConversation: l.ofTab(l.setPinned), keys.ArchiveConversation: l.ofTab(l.setArchived),
		keys.DeleteConversation: l.ofTab(l.moveToBin), keys.UndeleteConversation: l.restoreLast,
	}}
}

// open shows the list, narrowed by a text.
func (l *library) open(h kit.Host, text string) tea.Cmd {
	s := newList(l, h.Theme(), text, h.Now())
	h.OpenDialog(s)
	read := l.readList(h)
	if search := s.narrow(); search != nil {
		return tea.Batch(read, search(h))
	}
	return read
}

// readList reads the conversations for the list, if it is open.
func (l *library) readList(h kit.Host) tea.Cmd {
	s, ok := kit.Find[*list](h)
	if !ok {
		return nil
	}
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]turn.Conversation, error) { return w.List(ctx) }, func(h kit.Host, stored []turn.Conversation, err error) tea.Cmd {
		if err != nil {
			s.failed = kit.OneLine(err.Error())
			return nil
		}
		open := map[turn.ID]bool{}
		for i, c := range stored {
			for _, t := range h.Tabs() {
				if now := t.View().Conversation; now.ID == c.ID {
					open[c.ID] = true
					stored[i] = now // may be newer than what is stored
				}
			}
		}
		s.setConversations(Sort(stored), open)
		return nil
	})
}

// change changes what is stored, says what was done and reads the list again.
func (l *library) change(h kit.Host, said string, do func(context.Context, *chat.Workspace) error) tea.Cmd {
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (string, error) { return said, do(ctx, w) }, l.changed)
}

func (l *library) changed(h kit.Host, said string, err error) tea.Cmd {
	return tea.Batch(kit.Report(h, said, err), h.Refresh(), l.readList(h))
}

func (l *library) setPinned(h kit.Host, c turn.Conversation) tea.Cmd {
	said := "pinned “" + kit.TitleOf(c) + "”"
	if c.Pinned {
		said = "un" + said
	}
	return l.change(h, said, func(ctx context.Context, w *chat.Workspace) error { return w.SetPinned(ctx, c.ID, !c.Pinned) })
}

func (l *library) setArchived(h kit.Host, c turn.Conversation) tea.Cmd {
	said := "“" + kit.TitleOf(c) + "” is in the archive"
	if c.Archived {
		said = "“" + kit.TitleOf(c) + "” is in the list again"
	}
	if s, ok := kit.Find[*list](h); ok {
		s.alter(c.ID, func(c *turn.Conversation) { c.Archived = !c.Archived })
	}
	return l.change(h, said, func(ctx context.Context, w *chat.Workspace) error { return w.SetArchived(ctx, c.ID, !c.Archived) })
}

// askRename asks for the title of a conversation, open or stored.
func (l *library) askRename(h kit.Host, c turn.Conversation) tea.Cmd {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Rename the conversation", "", "rename", c.Title, false, func(h kit.Host, text string) tea.Cmd {
		h.CloseDialog()
		title := kit.OneLine(text)
		return l.change(h, "renamed to “"+title+"”", func(ctx context.Context, w *chat.Workspace) error { return w.SetTitle(ctx, c.ID, title) })
	}))
	return nil
}

func (l *library) renameTab(h kit.Host, title string) tea.Cmd {
	if title != "" {
		return kit.Report(h, "", h.Tab().Dialogue().SetTitle(kit.OneLine(title)))
	}
	return l.askRename(h, h.Tab().View().Conversation)
}

// ofTab is an action on the conversation of the active tab.
func (l *library) ofTab(do func(kit.Host, turn.Conversation) tea.Cmd) func(kit.Host, string) tea.Cmd {
	return func(h kit.Host, _ string) tea.Cmd {
		t := h.Tab()
		if t.Empty() || t.View().Loading {
			return h.Fail(errors.New("nothing is stored of this conversation yet"))
		}
		return do(h, t.View().Conversation)
	}
}

// openHit shows a turn that a search found.
func openHit(f turn.SearchHit) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.CloseDialog()
		cmd := h.OpenStored(f.Conversation)
		text := "" // to be marked
		if len(f.Marks) > 0 && f.Marks[0][0] >= 0 && f.Marks[0][0] < f.Marks[0][1] && f.Marks[0][1] <= len(f.Snippet) {
			text = f.Snippet[f.Marks[0][0]:f.Marks[0][1]]
		}
		h.Tab().ShowTurn(f.Turn, text)
		return tea.Batch(cmd, h.Refresh())
	}
}

// countConversations is the subject of a sentence: "1 conversation is".
func countConversations(n int) string {
	if n == 1 {
		return "1 conversation is"
	}
	return fmt.Sprintf("%s conversations are", kit.FormatCount(n))
}
