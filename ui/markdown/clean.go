package markdown

import "unicode/utf8"

// A cleaner turns arbitrary bytes, which may arrive cut anywhere, into UTF-8
// without characters that a terminal would act on. Lines end in \n.
type cleaner struct {
	held []byte // an incomplete character or a \r at the end of the last piece
}

// clean appends the clean form of s to dst.
func (c *cleaner) clean(dst []byte, s string) []byte {
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
			dst = utf8.AppendRune(dst, visible(rune(b)))
			i++
			continue
		}
		if !utf8.FullRuneInString(s[i:]) {
			c.held = append(c.held, s[i:]...)
			return dst
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, visible(r))
		i += size
	}
	return dst
}

// flush appends what was held back for a piece that does not come.
func (c *cleaner) flush(dst []byte) []byte {
	for _, b := range c.held {
		if b == '\r' {
			dst = append(dst, '\n')
			continue
		}
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	c.held = c.held[:0]
	return dst
}

// visible maps characters that would control the terminal, or reorder what is
// on it, to characters that show that they are there.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r' || r == 0x2028 || r == 0x2029:
		return '\n'
	case r < 0x20:
		return 0x2400 + r // control pictures
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, // C1 controls: 0x9b is as good as ESC [
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction overrides
		return utf8.RuneError
	}
	return r
}
