package chat

import (
	"fmt"
	"rookery/chat/turn"
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
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		token = token[n:]
	}
	return b.String()
}

// Tokens are an answer's tokens as TokenText writes them.
func (d *Dialogue) Tokens(turnID turn.ID) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.answerNode(turnID)
	if err != nil {
		return nil, err
	}
	t := d.template()
	if !t.knows(n.turn) {
		return nil, otherTokens(n.turn)
	}
	texts := make([]string, len(n.turn.Tokens))
	for i, id := range n.turn.Tokens {
		texts[i] = TokenText(t.tok.Bytes(id))
	}
	return texts, nil
}
