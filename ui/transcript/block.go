package transcript

import (
	"fmt"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/markdown"
	"rookery/ui/theme"
)

// lineSource is text as it is drawn: a finished rendering or a running one.
type lineSource interface {
	Len() int
	Line(i int) string
}

type fixedLines []string

func (l fixedLines) Len() int          { return len(l) }
func (l fixedLines) Line(i int) string { return l[i] }

// A block is one message of a transcript: a header, a folded thought, the
// text, a footer and a blank line. Its text is a markdown stream while it is
// being generated and fixed lines afterwards.
type block struct {
	turn    turn.Turn
	sibling chat.Siblings
	live    *chat.Live // nil when the answer is complete
	failure string     // instead of a turn: why the last action failed
	divider string     // instead of a turn: what is said between the head and what is ahead of it
	ahead   bool       // of the head: undone

	answer     string // what stream has been fed, or the whole text
	reflection string // what a thinking model thought before it answered
	thought    flow   // the same, as lines
	open       bool   // the thought has not ended
	stream     *markdown.Stream
	body       lineSource
	gen        int  // generation of the transcript for which body was made
	exact      bool // body is the final rendering
	plain      bool // it could not be rendered
	folded     bool

	head, thinking, foot []string
	version              int // grows when any line changes
}

// foldedPrompt is from how many bytes or lines on a prompt is shown folded,
// and foldedLines how much of it is then seen.
const (
	foldedPromptBytes = 4096
	foldedPromptLines = 40
	foldedLines       = 8
)

func newBlock(t turn.Turn, sibling chat.Siblings) *block {
	return &block{turn: t, sibling: sibling, folded: true, body: fixedLines(nil)}
}

// read splits the complete text.
func (b *block) read() {
	b.answer = b.turn.Text
	if b.turn.Role == turn.RoleAssistant {
		b.reflection, b.answer, b.open = prompt.SplitThought(b.answer)
	}
	b.answer = strings.Trim(b.answer, " \n")
}

// shows reports whether the block already draws a finished turn. Equal texts
// usually share memory, which makes the comparison cheap.
func (b *block) shows(t turn.Turn, sibling chat.Siblings) bool {
	return b.live == nil && b.failure == "" && b.divider == "" && b.turn.ID == t.ID && b.sibling == sibling &&
		b.turn.Label == t.Label && b.turn.Pinned == t.Pinned && b.turn.Edited == t.Edited &&
		b.turn.Text == t.Text && b.turn.Open == t.Open && b.turn.Reason == t.Reason
}

// settle turns a running answer into the finished one. What was streamed stays
// on the screen until the final rendering replaces it.
func (b *block) settle(t turn.Turn, sibling chat.Siblings) {
	b.turn, b.sibling, b.live = t, sibling, nil
	b.exact = b.plain
	b.version++
}

// feed brings a running answer up to date; it costs what has been added.
func (b *block) feed(live *chat.Live, th theme.Theme, width int) {
	thought, answer, open := prompt.SplitThought(live.Text)
	answer = strings.TrimLeft(answer, " \n")
	if b.stream == nil || !strings.HasPrefix(answer, b.answer) {
		b.stream, b.answer = markdown.New(th, width), ""
	}
	if len(answer) > len(b.answer) {
		b.stream.Append(answer[len(b.answer):])
		b.answer = answer
	}
	b.body, b.reflection, b.open = b.stream, thought, open
	b.version++
}

// folds reports whether there is something to fold.
func (b *block) folds() bool { return b.reflection != "" || b.longPrompt() }

func (b *block) longPrompt() bool {
	return b.turn.Role == turn.RoleUser &&
		(len(b.answer) > foldedPromptBytes || strings.Count(b.answer, "\n") >= foldedPromptLines)
}

// draft makes lines at once and cheaply, to be replaced by the exact ones.
func (b *block) draft(width int) fixedLines {
	if b.longPrompt() && b.folded {
		text := b.answer[:min(len(b.answer), foldedPromptBytes)]
		lines := kit.Wrap(strings.ToValidUTF8(text, ""), width)
		return fixedLines(lines[:min(len(lines), foldedLines)])
	}
	if b.answer == "" {
		return nil
	}
	return fixedLines(kit.Wrap(b.answer, width))
}

// decorate makes everything but the body: it is cheap and done whenever
// something about the block has changed.
func (b *block) decorate(th theme.Theme, width int, modelName, spin, foldKey string) {
	b.head, b.thinking, b.foot = nil, nil, nil
	if b.failure != "" {
		for _, line := range kit.Wrap("✗ "+b.failure, width) {
			b.head = append(b.head, th.Error.Render(line))
		}
		return
	}
	if b.divider != "" {
		b.head = []string{th.Accent.Render(kit.Fit(b.divider, width))}
		return
	}
	name := th.User.Render("You")
	if b.turn.Role == turn.RoleAssistant {
		if b.turn.ModelName != "" {
			modelName = b.turn.ModelName
		}
		name = th.Assistant.Render(kit.OneLine(modelName))
	}
	mark := b.marks(th)
	b.head = []string{kit.Spread(name, mark, width)}
	if b.reflection != "" || b.live != nil && b.open {
		b.thinking = b.thinkingLines(th, width, spin, foldKey)
	}
	b.foot = b.footLines(th, width, spin, foldKey)
}

// marks are what a person has noted about a turn, and which version it is.
func (b *block) marks(th theme.Theme) string {
	var marks []string
	if b.turn.Label != "" {
		marks = append(marks, th.Accent.Render("“"+kit.Fit(kit.OneLine(b.turn.Label), 30)+"”"))
	}
	if b.turn.Pinned {
		marks = append(marks, th.Accent.Render("pinned"))
	}
	if b.turn.Edited {
		marks = append(marks, th.Muted.Render("edited"))
	}
	if b.sibling.Of > 1 {
		marks = append(marks, th.Muted.Render(fmt.Sprintf("version %d of %d", b.sibling.N, b.sibling.Of)))
	}
	return strings.Join(marks, th.Muted.Render(" · "))
}

// thinkingLines are the thought, or the one line that stands for it.
func (b *block) thinkingLines(th theme.Theme, width int, spin, foldKey string) []string {
	b.thought.set(b.reflection, width)
	words := kit.FormatCount(b.thought.wordCount()) + " words"
	label := "▸ thought, " + words
	if b.open && b.live != nil {
		label = spin + " thinking, " + words
	} else if b.open {
		label = "▸ unfinished thought, " + words
	}
	if b.folded {
		if foldKey != "" {
			label += " · " + foldKey + " shows it"
		}
		return []string{th.Muted.Render(kit.Fit(label, width))}
	}
	lines := []string{th.Muted.Render(kit.Fit(strings.Replace(label, "▸", "▾", 1), width))}
	return lines
}

// height is the number of lines, the blank one below included.
func (b *block) height() int {
	return len(b.head) + len(b.thinking) + b.reflected() + b.body.Len() + len(b.foot) + 1
}

// reflected is the number of lines of an unfolded thought, with the blank one below.
func (b *block) reflected() int {
	if b.folded || len(b.thinking) == 0 {
		return 0
	}
	return len(b.thought.lines) + 1
}

// answers reports whether the block is an answer with text.
func (b *block) answers() bool {
	return b.turn.Role == turn.RoleAssistant && b.failure == "" && b.divider == ""
}

// asks reports whether the block is what the person said.
func (b *block) asks() bool {
	return b.turn.Role == turn.RoleUser && b.failure == "" && b.divider == ""
}

// setAhead dims a block or lights it again.
func (b *block) setAhead(ahead bool) {
	if b.ahead != ahead {
		b.ahead = ahead
		b.version++
	}
}
