package markdown

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"rookery/ui/markdown/syntax"
	"rookery/ui/terminal"
)

// CodeBlocks returns the code of every block of it in a text, without the
// indentation of its container. Every line ends in a line break.
func CodeBlocks(text string) []string {
	c := terminal.Cleaner{Show: true}
	src := c.Flush(c.Append(nil, text))
	doc := parse(src, nil)
	var blocks []string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() != ast.KindFencedCodeBlock && n.Kind() != ast.KindCodeBlock || !entering || n.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		blocks = append(blocks, strings.TrimSuffix(string(n.Lines().Value(src)), "\n")+"\n")
		return ast.WalkContinue, nil
	})
	return blocks
}

// tabWidth is the distance of tab stops in code.
const tabWidth = 4

// code renders a block of code.
func (r *renderer) code(language *syntax.Language, segments *text.Segments) {
	lines := make([]string, segments.Len())
	for i := range lines {
		at := segments.At(i)
		lines[i] = codeText(bytes.TrimSuffix(at.Value(r.src), []byte("\n")))
	}
	if r.exact {
		for i, spans := range language.Lines(lines) {
			r.codeLine(lines[i], spans)
		}
		return
	}
	state := syntax.State(0)
	for _, line := range lines {
		state = r.openCodeLine(line, language, state)
	}
}

// codeText is a line of code as it is shown: blanks at its end must not wrap.
func codeText(line []byte) string { return string(expandTabs(bytes.TrimRight(line, " \t"))) }

// maxColours bounds the lines whose colours are remembered.
const maxColours = 1000

// A coloured line is one whose colours are remembered.
type coloured struct {
	language *syntax.Language
	state    syntax.State // before it
	line     string
}

// openCodeLine renders a line of code that is coloured by itself, which a frame has
// time for. It returns what the line leaves open for the next one.
func (r *renderer) openCodeLine(line string, language *syntax.Language, state syntax.State) syntax.State {
	key := coloured{language, state, line}
	c, ok := r.colours[key]
	if !ok {
		if r.colours == nil || len(r.colours) >= maxColours {
			r.colours = map[coloured]colours{}
		}
		c.spans, c.state = language.Line(line, state)
		r.colours[key] = c
	}
	r.codeLine(line, c.spans)
	return c.state
}

// colours are those of a line, and the state after it.
type colours struct {
	spans []syntax.Span
	state syntax.State
}

// codeLine renders one line of code, which is wrapped anywhere.
func (r *renderer) codeLine(line string, spans []syntax.Span) {
	bar := r.th.Glyphs.Code
	width := r.room()
	if bar != "" && width-2 >= minRoom {
		bar, width = r.paint(bar, r.pens.border)+" ", width-2
	} else {
		bar = ""
	}
	r.flow.reset()
	at := 0
	for _, s := range spans {
		r.flow.addString(line[at:at+s.Len], r.pens.code[s.Class])
		at += s.Len
	}
	r.flow.segment()
	for i := range r.flow.cells {
		r.flow.cells[i].kind = cellCode
	}
	r.lines = r.flow.lines(width, r.lines[:0])
	if len(r.lines) == 0 {
		r.emit([]byte(bar))
	}
	for _, l := range r.lines {
		l.to = r.trimCode(l)
		r.emit(r.flow.paint([]byte(bar), l, r.pens))
	}
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
