package ui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// A tab is one open dialogue with its composer and transcript.
type tab struct {
	d          *chat.Dialogue // nil while it is still being opened
	view       chat.View      // of the last frame
	composer   *composer.Composer
	transcript *transcript.Transcript
	unread     bool
	drafted    int        // changes of the prompt when its draft was saved
	stopped    turn.ID    // the answer that was asked to stop last
	goal       *goal      // nil: none
	holds      int        // that keep answers from beginning
	heldFor    string     // what is being read
	held       kit.Action // begins an answer when it is there; nil: nothing waits
	preview    *int       // how many turns of the line are shown behind the head; nil: as it is
}

func (t *tab) title() string {
	switch {
	case t.view.Conversation.Title != "":
		return kit.TitleOf(t.view.Conversation)
	case t.view.Loading:
		return "Opening"
	case t.view.Base != "":
		return kit.OneLine(t.view.Base)
	}
	return "New chat"
}

// errOpening is the answer of a tab whose conversation is not there yet.
var errOpening = errors.New("the conversations are still being opened; try again in a moment")

// takePrompt takes over what was written in another tab.
func (t *tab) takePrompt(c *composer.Composer) { t.composer, t.drafted = c, -1 }

// opening says that the conversations are still being opened.
func (t *tab) opening() bool { return t.d == nil }

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
	if id, selected := t.transcript.Selected(); selected {
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

// Dialogue is the conversation, or nil while it is still being opened.
func (t *tab) Dialogue() *chat.Dialogue { return t.d }

// View is what the last frame saw.
func (t *tab) View() chat.View { return t.view }

// Title is what the tab is called.
func (t *tab) Title() string { return t.title() }

// Empty says that nothing was said yet.
func (t *tab) Empty() bool { return t.empty() }

// Selected is the selected turn, or the last one.
func (t *tab) Selected() (turn.Turn, bool) {
	line := slices.Concat(t.view.Turns, t.view.Ahead)
	if id, selected := t.transcript.Selected(); selected {
		if i := slices.IndexFunc(line, func(tn turn.Turn) bool { return tn.ID == id }); i >= 0 {
			return line[i], true
		}
	}
	if n := len(t.view.Turns); n > 0 {
		return t.view.Turns[n-1], true
	}
	return turn.Turn{}, false
}

// SelectedTurn is the selected turn, or 0.
func (t *tab) SelectedTurn() turn.ID {
	id, _ := t.transcript.Selected()
	return id
}

// SelectedAnswer is the selected answer, or the last one.
func (t *tab) SelectedAnswer() (turn.Turn, bool) { return t.transcript.SelectedAnswer() }

// Prompt is where the prompt is written.
func (t *tab) Prompt() kit.Prompt { return t.composer }

// ScrollToEnd shows the end of the messages.
func (t *tab) ScrollToEnd() { t.transcript.ScrollToEnd() }

// ScrollToHead shows the turn that the conversation goes on from.
func (t *tab) ScrollToHead() { t.transcript.ScrollToHead() }

// ShowTurn goes to a turn as soon as it has been read.
func (t *tab) ShowTurn(turn turn.ID, text string) { t.goal = &goal{turn, text} }

// Preview shows the line as if the conversation went on after its first n turns.
func (t *tab) Preview(n int) {
	if t.preview = &n; n < 0 {
		t.preview = nil
	}
	t.transcript.Preview(t.shown())
}

// A goal is a turn that a tab is to show as soon as it has been read.
type goal struct {
	turn turn.ID
	text string // to be marked in it
}

// reach goes to the active tab's goal once the conversation is there. A turn
// on another line of the tree needs that line first.
func (m *Model) reach() tea.Cmd {
	t := m.tab()
	if t.goal == nil || t.view.Loading {
		return nil
	}
	g := *t.goal
	t.goal = nil
	if err := t.d.ShowTurn(g.turn); err != nil {
		return m.fail(err)
	}
	m.arrange() // a tab that was just opened has no size yet
	t.view = t.d.View()
	t.transcript.Sync(t.view)
	if t.transcript.ShowTurn(g.turn, g.text) {
		m.setFocus(keys.Transcript)
	}
	return nil
}

// shown is the view that the transcript draws.
func (t *tab) shown() chat.View {
	v := t.view
	line := slices.Concat(v.Turns, v.Ahead)
	if t.preview == nil || v.Live != nil || *t.preview > len(line) {
		return v
	}
	v.Turns, v.Ahead = line[:*t.preview], line[*t.preview:]
	return v
}

// Hold keeps back what begins answers until Release.
func (t *tab) Hold(what string) { t.holds, t.heldFor = t.holds+1, what }

// Release returns what was kept back and may begin now.
func (t *tab) Release(err error) (begin kit.Action) {
	t.holds--
	switch {
	case err != nil:
		t.held = nil
	case t.holds == 0:
		begin, t.held = t.held, nil
	}
	return begin
}
