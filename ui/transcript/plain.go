package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

// A message that cannot be rendered must not end the program: it is shown as
// plain text. What its figures say is left out, and its thought stands in the text.

// guard runs what renders or draws a block. It reports false if that panicked; then
// the block is plain from now on.
func (t *Transcript) guard(b *block, do func()) (ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if b.plain {
				panic(cause) // nothing simpler is left
			}
			t.showPlain(b)
		}
	}()
	do()
	return true
}

// showPlain makes a block plain, or brings a plain one up to date.
func (t *Transcript) showPlain(b *block) {
	text, name := b.turn.Text, "Answer"
	switch {
	case b.live != nil:
		text = b.live.Text
	case b.failure != "":
		text = b.failure
	}
	if b.turn.Role == turn.RoleUser {
		name = "You"
	}
	b.head, b.thinking, b.foot, b.stream = []string{name}, nil, nil, nil
	b.plain, b.body = true, fixedLines(plainLines(text, t.textWidth()))
	b.gen, b.exact = t.generation, true
	b.version++
}

// plainLines breaks a text into lines of a width, wherever that is.
func plainLines(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(kit.Clean(text), "\n") {
		start, used := 0, 0
		for i, r := range line {
			w := ansi.StringWidth(string(r))
			if used+w > width && i > start {
				lines = append(lines, line[start:i])
				start, used = i, 0
			}
			used += w
		}
		lines = append(lines, line[start:])
	}
	return lines
}
