package library

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A binned conversation was put into the bin since the start.
type binned struct {
	c      turn.Conversation
	reopen kit.Action // its tab; nil: it had none
}

// moveToBin puts a conversation into the bin. One that is open is stopped, and
// its tab is closed.
func (l *library) moveToBin(h kit.Host, c turn.Conversation) tea.Cmd {
	b := binned{c, h.DropTab(c.ID)}
	said := "“" + kit.TitleOf(c) + "” is in the bin; "
	if b.reopen != nil {
		said = "“" + kit.TitleOf(c) + "” is in the bin and its tab is closed; "
	}
	l.binned = append(l.binned, b)
	if s, ok := kit.Find[*list](h); ok {
		s.alter(c.ID, func(c *turn.Conversation) { c.Deleted = h.Now() })
		said += h.Keymap().Hint(keys.List, keys.ListUndo) + " undoes it"
	} else {
		said += kit.HintFor(h, keys.UndeleteConversation) + " undoes it"
	}
	return l.change(h, said, func(ctx context.Context, w *chat.Workspace) error { return w.MoveToBin(ctx, c.ID) })
}

// restoreLast takes out of the bin what was put into it last.
func (l *library) restoreLast(h kit.Host, _ string) tea.Cmd {
	if len(l.binned) == 0 {
		return h.Fail(errors.New("nothing was deleted since the start; the bin in " + kit.HintFor(h, keys.Conversations) + " has what was deleted before"))
	}
	return l.restore(h, l.binned[len(l.binned)-1].c)
}

// restore takes a conversation out of the bin, and opens the tab again that was
// closed with it.
func (l *library) restore(h kit.Host, c turn.Conversation) tea.Cmd {
	b := l.forget(c)
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (binned, error) { return b, w.RestoreFromBin(ctx, c.ID) }, l.restored)
}

func (l *library) restored(h kit.Host, b binned, err error) tea.Cmd {
	if err != nil {
		l.binned = append(l.binned, b)
		return h.Fail(err)
	}
	if s, ok := kit.Find[*list](h); ok {
		s.want = b.c.ID
	}
	var open tea.Cmd
	if b.reopen != nil {
		open = b.reopen(h)
	}
	return tea.Batch(h.Say("“"+kit.TitleOf(b.c)+"” is back"), open, l.readList(h))
}

// forget takes a conversation from those that can be undone.
func (l *library) forget(c turn.Conversation) binned {
	b := binned{c: c}
	l.binned = slices.DeleteFunc(l.binned, func(other binned) bool {
		if other.c.ID == c.ID {
			b = other
		}
		return other.c.ID == c.ID
	})
	return b
}

// askEmpty asks whether all that is in the bin is to go for good.
func (l *library) askEmpty(n int) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(&kit.Confirmation{Title: "Empty the bin?", Text: countConversations(n) + " removed for good.", Verb: "empty", Accept: l.empty})
		return nil
	}
}

func (l *library) empty(h kit.Host) tea.Cmd {
	h.CloseDialog()
	l.binned = nil
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (string, error) {
		n, err := w.EmptyBin(ctx)
		return countConversations(n) + " removed", err
	}, l.changed)
}

// askDelete asks whether a conversation in the bin is to go for good.
func (l *library) askDelete(h kit.Host, c turn.Conversation) tea.Cmd {
	h.OpenDialog(&kit.Confirmation{
		Title: "Delete the conversation?", Text: fmt.Sprintf("“%s” and all its versions are removed for good.", kit.TitleOf(c)), Verb: "delete",
		Accept: func(h kit.Host) tea.Cmd {
			h.CloseDialog()
			l.forget(c)
			return l.change(h, "deleted “"+kit.TitleOf(c)+"” for good", func(ctx context.Context, w *chat.Workspace) error { return w.Delete(ctx, c.ID) })
		},
	})
	return nil
}
