package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenText writes a token's bytes so that a person sees all of them: spaces
// stay, line ends and other control characters are escaped, and so are bytes
// of a part of a character.
func TokenText(token []byte) string {
	if len(token) == 0 {
		return "(end)"
	}
	var b strings.Builder
	for len(token) > 0 {
		r, n := utf8.DecodeRune(token)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, token[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r): // also what has no width, or turns the line around
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		token = token[n:]
	}
	return b.String()
}
