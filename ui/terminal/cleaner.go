package terminal

import (
	"strings"
	"unicode/utf8"
)

// A Cleaner turns arbitrary bytes, which may arrive cut anywhere, into UTF-8
// that a terminal shows and does not act on. Lines end in \n; tabs stay. The
// zero Cleaner removes what cannot be shown.
type Cleaner struct {
	// Show puts signs in the place of control characters and directions, so that
	// a person sees that they are there.
	Show bool

	held   []byte // an incomplete character or a \r at the end of the last piece
	last   rune   // the last character that was written
	joiner rune   // one that waits for what it joins; 0: none
	tags   []rune // of a flag that has not ended
}

// Append appends the clean form of s to dst.
func (c *Cleaner) Append(dst []byte, s string) []byte {
	if len(c.held) > 0 {
		s = string(c.held) + s
		c.held = c.held[:0]
	}
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b == '\r' && i+1 == len(s) {
				c.held = append(c.held, b)
				return dst
			}
			if b == '\r' && s[i+1] == '\n' {
				i++
				continue
			}
			dst = c.put(dst, rune(b))
			i++
			continue
		}
		if !utf8.FullRuneInString(s[i:]) {
			c.held = append(c.held, s[i:]...)
			return dst
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = c.put(dst, r)
		i += size
	}
	return dst
}

// Flush appends what was held back for a piece that does not come.
func (c *Cleaner) Flush(dst []byte) []byte {
	for _, b := range c.held {
		if b == '\r' {
			dst = c.put(dst, '\n')
			continue
		}
		dst = c.put(dst, utf8.RuneError)
	}
	c.held, c.joiner, c.tags = c.held[:0], 0, c.tags[:0]
	return dst
}

// put appends a character, or what stands for it, or nothing.
func (c *Cleaner) put(dst []byte, r rune) []byte {
	switch {
	case c.last == blackFlag && isTag(r) && len(c.tags) < mostTags:
		c.tags = append(c.tags, r)
		return dst
	case r == cancelTag && len(c.tags) >= fewestTags:
		for _, t := range c.tags {
			dst = utf8.AppendRune(dst, t)
		}
		c.tags = c.tags[:0]
		return c.write(dst, r)
	}
	c.tags = c.tags[:0] // they end no flag
	switch joiner := c.joiner; {
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		c.joiner = r
		return dst
	case joiner != 0:
		c.joiner = 0
		if joins(c.last, joiner, r) {
			dst = c.write(dst, joiner)
		}
	}
	if isSelector(r) {
		if selects(c.last, r) {
			return c.write(dst, r)
		}
		return dst
	}
	if r = c.visible(r); r < 0 {
		return dst
	}
	return c.write(dst, r)
}

func (c *Cleaner) write(dst []byte, r rune) []byte {
	c.last = r
	return utf8.AppendRune(dst, r)
}

// visible is a character, what stands for it, or -1.
func (c *Cleaner) visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r' || r == 0x2028 || r == 0x2029:
		return '\n'
	case r >= 0x20 && r < 0x7f:
		return r
	case isControl(r) && !c.Show:
		return -1
	case r < 0x20:
		return 0x2400 + r // control pictures
	case r == 0x7f:
		return 0x2421
	case isControl(r), c.Show && isDirection(r):
		return utf8.RuneError
	case isHidden(r):
		return -1
	}
	return r
}

// Clean is a text as a terminal may show it. Tabs are spaces.
func Clean(text string) string {
	if isPlain(text) {
		return text
	}
	var c Cleaner
	text = string(c.Flush(c.Append(make([]byte, 0, len(text)), text)))
	return strings.ReplaceAll(text, "\t", "    ")
}

// isPlain says quickly of most texts that there is nothing to clean.
func isPlain(text string) bool {
	for _, r := range text {
		switch {
		case r == '\n' || r >= 0x20 && r < 0x7f:
		case r < 0xa0 || r == utf8.RuneError || isSelector(r) || isHidden(r) || r == 0x2028 || r == 0x2029:
			return false
		}
	}
	return true
}

// Line is a text on a single line of at most so many characters; 0 is any number.
func Line(text string, most int) string {
	line := strings.Join(strings.Fields(Clean(text)), " ")
	if most > 0 && utf8.RuneCountInString(line) > most {
		runes := []rune(line)
		line = string(runes[:most-1]) + "…"
	}
	return line
}
