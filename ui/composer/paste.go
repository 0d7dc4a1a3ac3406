package composer

import (
	"fmt"
	"strings"

	"rookery/ui/kit"
)

// A pasted text that is too large to be read in a few lines is held aside;
// a mark stands for it in the prompt and is replaced when the prompt is sent.
type pasted struct{ mark, text string }

// From here on a paste is held aside.
const (
	pasteLines = 1000
	pasteBytes = 32 << 10
)

func largePaste(text string) bool {
	return len(text) > pasteBytes || strings.Count(text, "\n") >= pasteLines
}

// hold keeps a large text aside and returns its mark. Marks are numbered, so
// that two pastes of one size stay apart.
func (c *Composer) hold(text string) string {
	c.serial++
	lines := strings.Count(text, "\n") + 1
	word := "lines"
	if lines == 1 {
		word = "line"
	}
	mark := fmt.Sprintf("[pasted #%d: %s, %s %s]", c.serial, kit.FormatSize(int64(len(text))), kit.FormatCount(lines), word)
	c.held = append(c.held, pasted{mark, text})
	return mark
}

// expand puts the held texts in the place of their marks.
func (c *Composer) expand(text string) string {
	for _, p := range c.held {
		text = p.putInto(text)
	}
	return text
}

// putInto puts the text in the place of its mark.
func (p pasted) putInto(text string) string { return strings.Replace(text, p.mark, p.text, 1) }

// markBefore is the mark that ends at the cursor, or "".
func (c *Composer) markBefore() string {
	if len(c.held) == 0 {
		return ""
	}
	before := c.Before()
	for _, p := range c.held {
		if strings.HasSuffix(before, p.mark) {
			return p.mark
		}
	}
	return ""
}
