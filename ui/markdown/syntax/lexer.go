package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexer colours one line.
type lexer struct {
	lang  *Language
	src   string
	pos   int
	spans []Span
	base  int  // spans before it are not ours
	began bool // a word or string was seen: keys come first
}

// emit gives the next n bytes a class.
func (x *lexer) emit(c Class, n int) {
	if n <= 0 {
		return
	}
	x.pos += n
	if k := len(x.spans); k > x.base && x.spans[k-1].Class == c {
		x.spans[k-1].Len += n
		return
	}
	x.spans = append(x.spans, Span{c, n})
}

func (x *lexer) run(s State) ([]Span, State) {
	if s > 0 && int(s) <= len(x.lang.quotes) {
		q := &x.lang.quotes[s-1]
		if !x.enclosed(q, 0) {
			return x.spans, s
		}
	}
	for x.pos < len(x.src) {
		if open := x.next(); open > 0 {
			return x.spans, open
		}
	}
	return x.spans, 0
}

// next colours one token. It returns the state that an unclosed one leaves.
func (x *lexer) next() State {
	rest := x.src[x.pos:]
	if x.comment(rest) {
		x.emit(Comment, len(rest))
		return 0
	}
	for i := range x.lang.quotes {
		q := &x.lang.quotes[i]
		if !strings.HasPrefix(rest, q.open) || q.char && !isChar(rest, q) {
			continue
		}
		if from := x.pos; !x.enclosed(q, len(q.open)) && q.lines {
			return State(i + 1)
		} else if q.class == String {
			x.markKey(from)
		}
		return 0
	}
	b := rest[0]
	switch {
	case b == ' ' || b == '\t':
		x.emit(Code, 1)
	case isDigit(b):
		x.emit(Number, number(rest))
		x.began = true
	case strings.IndexByte(x.lang.sigils, b) >= 0 && x.sigil(rest) > 1:
		x.emit(Name, x.sigil(rest))
	case x.word(rest) > 0:
		x.emitWord(rest[:x.word(rest)])
	case strings.IndexByte("+-*/%=<>!&|^~?:@$", b) >= 0:
		x.emit(Operator, 1)
	default:
		if b == ',' || b == '{' {
			x.began = false // the next key of a table on one line
		}
		_, n := utf8.DecodeRuneInString(rest)
		x.emit(Code, n)
	}
	return 0
}

func (x *lexer) comment(rest string) bool {
	for _, c := range x.lang.comments {
		if !strings.HasPrefix(rest, c) {
			continue
		}
		return !x.lang.hashAtWord || x.pos == 0 || strings.IndexByte(" \t;|&(", x.src[x.pos-1]) >= 0
	}
	return false
}

// enclosed colours up to the closing mark of q, skip bytes from here, and says
// whether there was one.
func (x *lexer) enclosed(q *quote, skip int) bool {
	rest := x.src[x.pos:]
	for i := skip; i < len(rest); i++ {
		if q.escape != 0 && rest[i] == q.escape {
			i++
			continue
		}
		if strings.HasPrefix(rest[i:], q.close) {
			x.emit(q.class, i+len(q.close))
			return true
		}
	}
	x.emit(q.class, len(rest))
	return false
}

// isChar says whether a single quote begins a character and not, say, a
// lifetime or a generic parameter.
func isChar(rest string, q *quote) bool {
	rest = rest[len(q.open):]
	if rest == "" {
		return false
	}
	if rest[0] == '\\' {
		end := strings.Index(rest[1:], q.close)
		return end >= 0 && end <= 12
	}
	_, n := utf8.DecodeRuneInString(rest)
	return strings.HasPrefix(rest[n:], q.close)
}

// markKey turns the string that began at from into a Name if it is a key.
func (x *lexer) markKey(from int) {
	if !x.began && x.keyFollows(x.src[x.pos:]) && len(x.spans) > x.base && x.spans[len(x.spans)-1].Len == x.pos-from {
		x.spans[len(x.spans)-1].Class = Name
	}
	x.began = true
}

func (x *lexer) keyFollows(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return x.lang.key != 0 && rest != "" && rest[0] == x.lang.key
}

func (x *lexer) emitWord(w string) {
	class := x.classify(w)
	x.began = true
	x.emit(class, len(w))
}

func (x *lexer) classify(w string) Class {
	l := x.lang
	after := x.src[x.pos+len(w):]
	if !x.began && x.keyFollows(after) {
		return Name
	}
	known := w
	if l.fold {
		known = strings.ToLower(w)
	}
	member := x.pos > 0 && strings.IndexByte(".-", x.src[x.pos-1]) >= 0
	if class, ok := l.words[known]; ok && !member {
		return class
	}
	if strings.HasPrefix(after, "(") {
		return Function
	}
	if r, _ := utf8.DecodeRuneInString(w); l.capitals && !member && unicode.IsUpper(r) {
		return Type
	}
	return Code
}

// word is the length of the word that s begins with.
func (x *lexer) word(s string) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r) {
			continue
		}
		if strings.ContainsRune(x.lang.letters, r) && (i > 0 || r != '-') {
			continue
		}
		return i
	}
	return len(s)
}

// sigil is the length of the variable or decorator that s begins with.
func (x *lexer) sigil(s string) int {
	if strings.HasPrefix(s, "${") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return end + 1
		}
	}
	if strings.HasPrefix(s, "</") {
		return 2 + x.word(s[2:])
	}
	if len(s) > 1 && (isDigit(s[1]) || s[0] == '$' && strings.IndexByte("@*#?$!", s[1]) >= 0) {
		return 2
	}
	return 1 + x.word(s[1:])
}

// number is the length of the number that s begins with, its suffix included.
func number(s string) int {
	i := 1
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c) || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case c == '.' && i+1 < len(s) && isDigit(s[i+1]):
		case (c == '+' || c == '-') && s[i-1]|0x20 == 'e' && i+1 < len(s) && isDigit(s[i+1]) && !strings.HasPrefix(s, "0x"):
		default:
			return i
		}
	}
	return i
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
