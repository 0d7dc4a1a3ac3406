package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A Composer is where the prompt of one tab is written. It keeps its draft.
type Composer struct {
	kit.TextArea
	th      theme.Theme
	history *History

	width, rows int      // on the screen
	held        []pasted // large texts that marks stand for
	serial      int      // of the last mark
	edited      *Edited  // nil: a new prompt is written
	recalled    int      // how far back in the history, 0 is the draft
	draft       string   // what was there before a prompt was recalled
	menu        menu
	files       files
}

// Edited names the turn whose text is being changed.
type Edited struct {
	Turn   turn.ID // 0: the last prompt
	Answer bool
}

// String is what is being changed, for a sentence.
func (e Edited) String() string {
	switch {
	case e.Answer:
		return "an answer"
	case e.Turn != 0:
		return "a prompt"
	}
	return "the last prompt"
}

// New is an empty composer. All composers share a history.
func New(th theme.Theme, history *History) *Composer {
	return &Composer{TextArea: kit.NewTextArea(th, "Write a message, / for commands, @ for files"), th: th, history: history, rows: 1}
}

// Actions are what a person can do with the prompt in view, other than to type.
func Actions() map[keys.ID]func(c *Composer, h kit.Host) tea.Cmd {
	do := func(change func(c *Composer)) func(*Composer, kit.Host) tea.Cmd {
		return func(c *Composer, _ kit.Host) tea.Cmd {
			change(c)
			return nil
		}
	}
	return map[keys.ID]func(*Composer, kit.Host) tea.Cmd{
		keys.Newline:     do(func(c *Composer) { c.Insert("\n") }),
		keys.HistoryPrev: do(func(c *Composer) { c.goBack(1) }),
		keys.HistoryNext: do(func(c *Composer) { c.goBack(-1) }),
		keys.HistoryFind: (*Composer).searchHistory,
		keys.Editor:      (*Composer).openEditor,
	}
}

// SetTheme changes the looks.
func (c *Composer) SetTheme(th theme.Theme) {
	c.th = th
	c.TextArea.SetTheme(th)
}

// promptWidth is the "› " before the first line.
const promptWidth = 2

// SetSize gives the composer a width and as many rows as the text needs, most at
// most. It returns their number.
func (c *Composer) SetSize(width, most int) (rows int) {
	c.SetWidth(max(1, width-promptWidth-1))
	c.width, c.rows = width, min(c.Rows(), max(1, most))
	c.Scroll(c.rows)
	return c.rows
}

// Draw returns the rows, and the place of the cursor in them.
func (c *Composer) Draw(focused bool) (lines []string, x, y int) {
	written, x, y := c.TextArea.Draw(c.rows)
	style := c.th.Accent
	if !focused {
		style = c.th.Muted
	}
	for i := range c.rows {
		edge, line := "  ", ""
		if i == 0 {
			edge = style.Render(c.th.Glyphs.Cursor) + " "
		}
		if i < len(written) {
			line = written[i]
		}
		lines = append(lines, kit.Fit(edge+line, c.width))
	}
	return lines, x + promptWidth, y
}

// Paste inserts a pasted text, or its mark if it is large.
func (c *Composer) Paste(text string) {
	text = kit.NormalizeLineEnds(text)
	if largePaste(text) {
		text = c.hold(text)
	}
	c.Insert(text)
}

// Text is what would be sent.
func (c *Composer) Text() string { return strings.TrimRight(c.expand(c.Value()), " \n") }

// Fill replaces everything by a text, which may be of any size.
func (c *Composer) Fill(text string) {
	c.recalled = 0
	if largePaste(text) {
		text = c.hold(text)
	}
	c.Set(text)
}

// BeginEdit replaces everything by the text of a turn that is to be changed. All
// of it stands there, whatever its size.
func (c *Composer) BeginEdit(e Edited, text string) {
	c.held, c.recalled, c.edited = nil, 0, &e
	c.Set(text)
	c.ForgetChanges()
}

// Change begins an edit of a turn.
func (c *Composer) Change(t turn.Turn) {
	c.BeginEdit(Edited{Turn: t.ID, Answer: t.Role == turn.RoleAssistant}, t.Text)
}

// Editing says that a turn is being changed.
func (c *Composer) Editing() bool { return c.edited != nil }

// Edited is the turn that is being changed, if one is.
func (c *Composer) Edited() (e Edited, ok bool) {
	if c.edited == nil {
		return Edited{}, false
	}
	return *c.edited, true
}

// Clear takes the text away and ends an edit.
func (c *Composer) Clear() {
	c.held, c.recalled, c.draft, c.edited = nil, 0, "", nil
	c.Set("")
	c.ForgetChanges()
}

// Press carries out an editing key. It reports whether the key was one.
func (c *Composer) Press(id keys.ID) bool {
	if c.pressMenu(id) {
		return true
	}
	switch {
	case id == keys.Undo && !c.Empty():
		return c.Undo()
	case id == keys.Redo && c.Redo():
		return true
	}
	if id == keys.DeleteLeft || id == keys.DeleteWord {
		if mark := c.markBefore(); mark != "" {
			c.DeleteBefore(len(mark))
			return true
		}
	}
	return c.Edit(id)
}

// BreakLine starts a new line if a backslash stands before the cursor, which it
// replaces: for terminals that have no shift+enter.
func (c *Composer) BreakLine() bool {
	if !strings.HasSuffix(c.Before(), `\`) {
		return false
	}
	c.DeleteBefore(1)
	c.Insert("\n")
	return true
}
