package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

type (
	// openStored shows a stored conversation in a tab.
	openStored struct{ id turn.ID }
	// openFound shows a turn that a search found.
	openFound struct{ found turn.SearchHit }
	// searchStored asks for a search of all messages, for one state of a query.
	searchStored struct {
		query  string
		serial int
	}
	// setPinned and setArchived change where a conversation is listed.
	setPinned struct {
		c      turn.Conversation
		pinned bool
	}
	setArchived struct {
		c        turn.Conversation
		archived bool
	}
	// throwAway puts a conversation into the bin, takeBack takes it out again,
	// and takeBackLast the one that was thrown away last.
	throwAway    struct{ c turn.Conversation }
	takeBack     struct{ c turn.Conversation }
	takeBackLast struct{}
	// askEmptyBin and emptyBin remove the number of conversations in it for good.
	askEmptyBin struct{ n int }
	emptyBin    struct{}
	// askDelete and askRename put the question about a stored conversation.
	askDelete struct{ c turn.Conversation }
	askRename struct{ c turn.Conversation }
	// deleteStored removes a conversation in the bin for good.
	deleteStored struct{ c turn.Conversation }
	// rename gives a conversation, open or stored, a title.
	rename struct {
		id    turn.ID
		title string
	}
)

func carried(i any) kit.Action {
	return func(h kit.Host) tea.Cmd {
		m := h.(*Model)
		switch i := i.(type) {
		case openStored:
			m.CloseDialog()
			return m.openStored(i.id, m.active+1)
		case askRename:
			id := i.c.ID
			m.OpenDialog(kit.NewQuestion(m.th, "Rename the conversation", "", "rename", i.c.Title, false, func(h kit.Host, text string) tea.Cmd {
				return carried(rename{id, kit.OneLine(text)})(h)
			}))
			return nil
		case rename:
			m.CloseDialog()
			return m.rename(i.id, i.title)
		case searchStored, openFound, setPinned, setArchived, throwAway, takeBack, takeBackLast, askEmptyBin, emptyBin, askDelete, deleteStored:
			return m.shelve(i)
		}
		return m.carryOutState(i)
	}
}

func fillPrompt(text string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.CloseDialog()
		h.Tab().Prompt().Fill(text)
		return nil
	}
}
