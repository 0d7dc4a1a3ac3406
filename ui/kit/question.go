package kit

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Question asks for a text of one or several lines.
type Question struct {
	title, about string
	wrong        string // why the text was not taken; said instead of what it is about
	verb         string // what enter does
	multi        bool
	accept       func(h Host, text string) tea.Cmd
	input        TextArea
	Window
}

const questionWidth = 70

// NewQuestion asks for a text; verb is what accept does with it. The question stays
// open until accept closes it: see Refuse.
func NewQuestion(th theme.Theme, title, about, verb, text string, multi bool, accept func(h Host, text string) tea.Cmd) *Question {
	return &Question{title: title, about: about, verb: verb, multi: multi, accept: accept, input: NewField(th, "", text)}
}

// Press takes a key.
func (q *Question) Press(id keys.ID, text string) Action {
	q.wrong = ""
	switch id {
	case keys.ListCancel:
		return Close
	case keys.ListAccept:
		text := q.input.Value()
		return func(h Host) tea.Cmd { return q.accept(h, text) }
	case keys.ListNewline:
		if q.multi {
			q.input.Insert("\n")
		}
	case keys.ListUp:
		q.input.Up()
	case keys.ListDown:
		q.input.Down()
	case "":
		TypeInto(&q.input, text, q.multi)
	default:
		q.input.Edit(id)
	}
	return nil
}

// Wheel scrolls.
func (q *Question) Wheel(by, _, _ int) Action {
	for range max(by, -by) {
		if by < 0 {
			q.input.Up()
		} else {
			q.input.Down()
		}
	}
	return nil
}

// Resize tells the size of the screen.
func (q *Question) Resize(width, height int) {
	q.Window.Resize(width, height)
	q.input.SetWidth(InnerWidth(questionWidth, width) - 1) // the cursor may stand behind the text
}

// content is what the question is about and the text on a screen of some height,
// and where the cursor is in it.
func (q *Question) content(th theme.Theme, inner, height int) (content []string, x, y int) {
	about, style := q.about, th.Muted
	if q.wrong != "" {
		about, style = q.wrong, th.Error
	}
	for _, line := range Wrap(about, inner) {
		if about != "" {
			content = append(content, style.Render(line))
		}
	}
	switch room := height - 4; {
	case q.wrong != "":
		content = content[:min(len(content), max(0, room))]
	case len(content) > max(0, room-2):
		content = nil // the text matters more than what is said about it
	}
	head := len(content)
	rows := min(q.input.Rows(), 3)
	if q.multi {
		rows = max(3, q.input.Rows())
	}
	rows = max(1, min(rows, height-3-head))
	q.input.Scroll(rows)
	lines, x, y := q.input.Draw(rows)
	content = append(content, lines...)
	for len(content) < head+rows {
		content = append(content, "")
	}
	return content, x, head + y
}

// hints are the keys of the question and what they do.
func (q *Question) hints(m keys.Map) []string {
	return []string{m.Hint(keys.List, keys.ListAccept), q.verb, m.Hint(keys.List, keys.ListCancel), "close"}
}

// Draw returns the box.
func (q *Question) Draw(th theme.Theme, m keys.Map) Box {
	inner := InnerWidth(questionWidth, q.Width)
	content, x, y := q.content(th, inner, q.Height)
	hints := q.hints(m)
	if q.multi {
		hints = append(hints, m.Hint(keys.List, keys.ListNewline), "new line")
	}
	return Frame(th, q.title, content, HintLine(th, inner-2, hints...), inner, q.Width, q.Height).WithCursor(x, y)
}

// A Confirmation asks before something that cannot be undone.
type Confirmation struct {
	Title, Text string
	Verb        string // what enter does
	Refuse      string // what esc does; "" is "keep"
	Accept      Action
	Window
}

// Press takes a key.
func (c *Confirmation) Press(id keys.ID, text string) Action {
	switch {
	case id == keys.ListAccept || text == "y":
		return c.Accept
	case id == keys.ListCancel || text == "n":
		return Close
	}
	return nil
}

// Draw returns the box.
func (c *Confirmation) Draw(th theme.Theme, m keys.Map) Box {
	inner := InnerWidth(50, c.Width)
	hints := HintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), c.Verb, m.Hint(keys.List, keys.ListCancel), cmp.Or(c.Refuse, "keep"))
	return Frame(th, c.Title, Wrap(c.Text, inner), hints, inner, c.Width, c.Height)
}

// Refuse says why a text is not taken in its question, which stays open so that
// it can be put right. It reports whether a question is what is asked now.
func Refuse(h Host, err error) bool {
	dialogs := h.Dialogs()
	if len(dialogs) == 0 {
		return false
	}
	q, ok := dialogs[len(dialogs)-1].(interface{ refuse(why string) })
	if ok {
		q.refuse(OneLine(err.Error()))
	}
	return ok
}

func (q *Question) refuse(why string) { q.wrong = why }

// HoldsWork says that a click beside the question does not close it.
func (q *Question) HoldsWork() bool { return true }
