package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/theme"
)

// A tab is one open dialogue with its composer and transcript.
type tab struct {
	d          dialogue
	view       chat.View // of the last frame
	composer   *composer
	transcript *transcript
	unread     bool
	goal       *goal          // nil: none
	mixing     int            // mixes that are being read for it
	held       func() tea.Cmd // begins an answer when they are there; nil: nothing waits
	preview    *int           // how many turns of the line are shown behind the head; nil: as it is
}

func newTab(d dialogue, th theme.Theme, modelName string) *tab {
	return &tab{d: d, view: d.View(), composer: newComposer(th), transcript: newTranscript(th, modelName)}
}

func (t *tab) title() string {
	switch {
	case t.view.Conversation.Title != "":
		return titleOf(t.view.Conversation)
	case t.view.Loading:
		return "Opening"
	case t.view.Base != "":
		return oneLine(t.view.Base)
	}
	return "New chat"
}

// generating reports whether an answer is running.
func (t *tab) generating() bool { return t.view.Live != nil }

// empty reports whether nothing has been said yet.
func (t *tab) empty() bool {
	return len(t.view.Turns)+len(t.view.Ahead) == 0 && t.view.Live == nil && t.view.Err == nil
}

// resumable reports whether the last answer was interrupted.
func (t *tab) resumable() bool {
	n := len(t.view.Turns)
	return n > 0 && t.view.Live == nil && t.view.Turns[n-1].Role == turn.RoleAssistant && t.view.Turns[n-1].Open
}

// unanswered reports whether the last prompt has no answer: it was stopped
// while it was being read.
func (t *tab) unanswered() bool {
	n := len(t.view.Turns)
	return n > 0 && t.view.Live == nil && t.view.Turns[n-1].Role == turn.RoleUser
}

// selectedPrompt is the user turn at or above the selected one, or the last.
func (t *tab) selectedPrompt() (turn.Turn, bool) {
	turns := t.view.Turns
	if at := t.transcript.selected; at >= 0 && at < len(t.transcript.blocks) {
		id := t.transcript.blocks[at].turn.ID
		line := slices.Concat(turns, t.view.Ahead)
		if i := slices.IndexFunc(line, func(tn turn.Turn) bool { return tn.ID == id }); i >= 0 {
			turns = line[:i+1]
		}
	}
	for _, tn := range slices.Backward(turns) {
		if tn.Role == turn.RoleUser {
			return tn, true
		}
	}
	return turn.Turn{}, false
}
