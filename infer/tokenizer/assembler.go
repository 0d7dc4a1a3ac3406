package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// An Assembler turns a stream of bytes into valid UTF-8 text. It holds back the
// bytes of an incomplete character. However the stream is split, the joined text is
// string([]rune(stream)), in which every byte that is part of no character is one
// U+FFFD. The zero value is ready.
type Assembler struct {
	tail [utf8.UTFMax - 1]byte // the beginning of a character
	n    int
}

// Push takes the next bytes and returns the text that they complete. It holds
// back at most 3 bytes, and those only if they can still become a character.
func (a *Assembler) Push(p []byte) string {
	if a.n == 0 && utf8.Valid(p) {
		return string(p)
	}
	var out strings.Builder
	out.Grow(a.n + len(p))
	for a.n > 0 && len(p) > 0 {
		p = a.complete(&out, p)
	}
	for len(p) > 0 {
		if !utf8.FullRune(p) {
			a.n = copy(a.tail[:], p)
			break
		}
		r, size := utf8.DecodeRune(p)
		out.WriteRune(r) // U+FFFD, of size 1, for a bad byte
		p = p[size:]
	}
	return out.String()
}

// complete decodes the character that begins in the tail and goes on in p, which is
// not empty, and returns the rest of p. If the tail is no beginning of a character,
// only its first byte becomes U+FFFD; the others stay.
func (a *Assembler) complete(out *strings.Builder, p []byte) []byte {
	var both [2 * utf8.UTFMax]byte
	held := a.n
	n := copy(both[:], a.tail[:held])
	n += copy(both[n:], p[:min(len(p), utf8.UTFMax)])
	if !utf8.FullRune(both[:n]) {
		a.n = copy(a.tail[:], both[:n])
		return p[n-held:]
	}
	r, size := utf8.DecodeRune(both[:n])
	out.WriteRune(r)
	if size >= held {
		a.n = 0
		return p[size-held:]
	}
	a.n = copy(a.tail[:], both[size:held])
	return p
}

// Flush ends the stream and returns one U+FFFD for each byte held back.
func (a *Assembler) Flush() string {
	s := strings.Repeat(string(utf8.RuneError), a.n)
	a.n = 0
	return s
}

// Pending is a copy of the bytes held back, nil if there are none.
func (a *Assembler) Pending() []byte {
	if a.n == 0 {
		return nil
	}
	return append([]byte(nil), a.tail[:a.n]...)
}

// Restore continues as the Assembler whose Pending this is. Of any other bytes it
// keeps the incomplete character at their end.
func (a *Assembler) Restore(pending []byte) {
	a.n = 0
	for i := max(0, len(pending)-len(a.tail)); i < len(pending); i++ {
		if !utf8.FullRune(pending[i:]) {
			a.n = copy(a.tail[:], pending[i:])
			return
		}
	}
}
