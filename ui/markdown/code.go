package markdown

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/text"

	"rookery/ui/markdown/syntax"
)

// A CodeBlock is a block of code in a text.
type CodeBlock struct {
	Lang                string // as written after the fence; may be empty
	Text                string // without the indentation of its container; every line ends in a line break
	FirstLine, LastLine int    // the lines that show it, both inclusive
}

// tabWidth is the distance of tab stops in code.
const tabWidth = 4

// code renders a block of code.
func (r *renderer) code(lang string, lines *text.Segments) {
	var whole strings.Builder
	language, state := syntax.Find(lang), syntax.State(0)
	first := -1
	for i := range lines.Len() {
		seg := lines.At(i)
		s := seg.Value(r.src)
		whole.Write(s)
		state = r.codeLine(bytes.TrimSuffix(s, []byte("\n")), language, state)
		if first < 0 {
			first = len(r.out) - len(r.lines)
		}
	}
	if first >= 0 {
		if s := whole.String(); !strings.HasSuffix(s, "\n") {
			whole.WriteByte('\n')
		}
		r.blocks = append(r.blocks, CodeBlock{Lang: lang, Text: whole.String(), FirstLine: first, LastLine: len(r.out) - 1})
	}
}

// codeLine renders one line of code, which is wrapped anywhere, and returns
// what it leaves open for the next one. The lines it took are in r.lines.
func (r *renderer) codeLine(s []byte, lang *syntax.Language, state syntax.State) syntax.State {
	bar := r.th.Glyphs.Code
	width := r.room()
	if bar != "" && width-2 >= minRoom {
		bar, width = r.paint(bar, r.pens.border)+" ", width-2
	} else {
		bar = ""
	}
	src := string(expandTabs(bytes.TrimRight(s, " \t"))) // blanks must not wrap
	r.spans, state = lang.Line(src, state, r.spans[:0])
	r.flow.reset()
	for at, i := 0, 0; i < len(r.spans); i++ {
		end := at + r.spans[i].Len
		r.flow.addString(src[at:end], r.pens.code[r.spans[i].Class])
		at = end
	}
	r.flow.segment()
	for i := range r.flow.cells {
		r.flow.cells[i].kind = cellCode
	}
	r.lines = r.flow.lines(width, r.lines[:0])
	if len(r.lines) == 0 {
		r.lines = append(r.lines, line{})
	}
	for _, l := range r.lines {
		l.to = r.trimCode(l)
		r.emit(r.flow.paint([]byte(bar), l, r.pens))
	}
	return state
}

// trimCode drops blanks at the end of a line of code.
func (r *renderer) trimCode(l line) int {
	for l.to > l.from && r.flow.text[r.flow.cells[l.to-1].from] == ' ' {
		l.to--
	}
	return l.to
}

// expandTabs replaces tabs by spaces up to the next tab stop.
func expandTabs(s []byte) []byte {
	if bytes.IndexByte(s, '\t') < 0 {
		return s
	}
	var out []byte
	column := 0
	for i, part := range bytes.Split(s, []byte("\t")) {
		if i > 0 {
			n := tabWidth - column%tabWidth
			out = append(out, "    "[:n]...)
			column += n
		}
		out = append(out, part...)
		column += ansi.StringWidth(string(part))
	}
	return out
}
