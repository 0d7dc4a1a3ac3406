package syntax

import "strings"

// A State is what a line leaves open for the next one: a comment or a string
// that spans lines. The zero State is the beginning of a text.
type State uint8

// A block is a comment or a string that may span lines.
type block struct {
	begin, end string
	class      Class
}

// marks begin and end blocks in some language. What they do in one, its lexer
// says: see findBlocks.
var marks = [][2]string{{`"""`, `"""`}, {"'''", "'''"}, {"/*", "*/"}, {"<!--", "-->"}, {"{-", "-}"}, {"(*", "*)"}, {"--[[", "]]"}, {"`", "`"}}

// findBlocks asks the lexer which marks enclose lines in the language.
func (l *Language) findBlocks() {
	for _, m := range marks {
		inside := l.Lines([]string{m[0], "x", m[1]})[1]
		if class := inside[0].Class; class == Comment || class == String {
			l.blocks = append(l.blocks, block{m[0], m[1], class})
		}
	}
}

// opened is the block that a line begins and does not end, with its place; or 0
// and the length of the line. Spans are the line's own.
func (l *Language) opened(line string, spans []Span) (s State, from int) {
	from = len(line)
	for i, b := range l.blocks {
		at := strings.LastIndex(line, b.begin)
		if at < 0 || at >= from {
			continue
		}
		class, start := classAt(spans, at)
		inside := start < at && (class == Comment || class == String) // a mark means nothing there
		open := !inside && !strings.Contains(line[at+len(b.begin):], b.end)
		if b.begin == b.end {
			open = class != Comment && strings.Count(line, b.begin)%2 == 1
		}
		if open {
			s, from = State(i+1), at
		}
	}
	return s, from
}

// classAt is the class of a byte, and where its span begins.
func classAt(spans []Span, at int) (class Class, start int) {
	for _, s := range spans {
		if at < start+s.Len {
			return s.Class, start
		}
		start += s.Len
	}
	return Code, start
}
