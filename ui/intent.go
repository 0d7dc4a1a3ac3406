package ui

import (
	"rookery/chat/turn"
	"rookery/ui/keys"
)

// An intent is what a dialog or a panel wants done. The root carries it out;
// dialogs change nothing but themselves.
type intent interface{ intent() }

type (
	// done closes the dialog.
	done struct{}
	// run closes the dialog and runs an action.
	run struct {
		id  keys.ID
		arg string
	}
	// setSystem changes the system prompt, also to nothing.
	setSystem struct{ text string }
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
	// closeTab closes the active tab without asking.
	closeTab struct{}
	// usePrompt puts an earlier prompt into the composer.
	usePrompt struct{ text string }
	// find searches while the query is typed; keepFound goes to the matches
	// and dropFound forgets them.
	find      struct{ query string }
	keepFound struct{}
	dropFound struct{}
)

func (done) intent()         {}
func (run) intent()          {}
func (setSystem) intent()    {}
func (openStored) intent()   {}
func (openFound) intent()    {}
func (searchStored) intent() {}
func (setPinned) intent()    {}
func (setArchived) intent()  {}
func (throwAway) intent()    {}
func (takeBack) intent()     {}
func (takeBackLast) intent() {}
func (askEmptyBin) intent()  {}
func (emptyBin) intent()     {}
func (askDelete) intent()    {}
func (askRename) intent()    {}
func (deleteStored) intent() {}
func (rename) intent()       {}
func (closeTab) intent()     {}
func (usePrompt) intent()    {}
func (find) intent()         {}
func (keepFound) intent()    {}
func (dropFound) intent()    {}
