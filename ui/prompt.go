package ui

import (
	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A question asks for a text of one or several lines.
type question struct {
	title, about  string
	wrong         string // why the text was not taken; said instead of what it is about
	verb          string // what enter does
	multi         bool
	accept        func(text string) intent
	input         area
	width, height int
}

const questionWidth = 70

func newQuestion(th theme.Theme, title, about, verb, text string, multi bool, accept func(string) intent) *question {
	return &question{title: title, about: about, verb: verb, multi: multi, accept: accept, input: field(th, "", text)}
}

// refuse says why a text is not taken in its question, which stays open so that
// it can be put right. It reports whether a question is what is asked now.
func (m *Model) refuse(err error) bool {
	if n := len(m.dialogs); n > 0 {
		if q, ok := m.dialogs[n-1].(*question); ok {
			q.wrong = oneLine(err.Error())
			return true
		}
	}
	return false
}

func (q *question) press(id keys.ID, text string) intent {
	q.wrong = ""
	switch id {
	case keys.ListCancel:
		return done{}
	case keys.ListAccept:
		return q.accept(q.input.value())
	case keys.ListNewline:
		if q.multi {
			q.input.insert("\n")
		}
	case keys.ListUp:
		q.input.up()
	case keys.ListDown:
		q.input.down()
	case "":
		typed(&q.input, text, q.multi)
	default:
		q.input.edit(id)
	}
	return nil
}

func (q *question) wheel(by int) intent {
	for range max(by, -by) {
		if by < 0 {
			q.input.up()
		} else {
			q.input.down()
		}
	}
	return nil
}

func (q *question) click(int, int) intent { return nil }

func (q *question) resize(width, height int) {
	q.width, q.height = width, height
	q.input.setWidth(innerWidth(questionWidth, width) - 1) // the cursor may stand behind the text
}

func (q *question) draw(th theme.Theme, m keys.Map) box {
	inner := innerWidth(questionWidth, q.width)
	var content []string
	about, style := q.about, th.Muted
	if q.wrong != "" {
		about, style = q.wrong, th.Error
	}
	for _, line := range wrapped(about, inner) {
		if about != "" {
			content = append(content, style.Render(line))
		}
	}
	switch room := q.height - 4; {
	case q.wrong != "":
		content = content[:min(len(content), max(0, room))]
	case len(content) > max(0, room-2):
		content = nil // the text matters more than what is said about it
	}
	head := len(content)
	rows := min(q.input.rows(), 3)
	if q.multi {
		rows = max(3, q.input.rows())
	}
	rows = max(1, min(rows, q.height-3-head))
	q.input.scroll(rows)
	lines, x, y := q.input.draw(rows)
	content = append(content, lines...)
	for len(content) < head+rows {
		content = append(content, "")
	}
	hints := []string{m.Hint(keys.List, keys.ListAccept), q.verb, m.Hint(keys.List, keys.ListCancel), "close"}
	if q.multi {
		hints = append(hints, m.Hint(keys.List, keys.ListNewline), "new line")
	}
	return framed(th, q.title, content, hintLine(th, inner-2, hints...), inner, q.width, q.height).withCursor(x, head+y)
}

// A confirmation asks before something that cannot be undone.
type confirmation struct {
	title, text   string
	verb          string // what enter does
	refuse        string // what esc does; "" is "keep"
	accept        intent
	width, height int
}

func (c *confirmation) press(id keys.ID, text string) intent {
	switch {
	case id == keys.ListAccept || text == "y":
		return c.accept
	case id == keys.ListCancel || text == "n":
		return done{}
	}
	return nil
}

func (c *confirmation) wheel(int) intent         { return nil }
func (c *confirmation) click(int, int) intent    { return nil }
func (c *confirmation) resize(width, height int) { c.width, c.height = width, height }

func (c *confirmation) draw(th theme.Theme, m keys.Map) box {
	inner := innerWidth(50, c.width)
	hints := hintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), c.verb, m.Hint(keys.List, keys.ListCancel), otherwise(c.refuse, "keep"))
	return framed(th, c.title, wrapped(c.text, inner), hints, inner, c.width, c.height)
}
