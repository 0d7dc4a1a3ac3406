package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"rookery/ui/markdown/tex"
)

// A formula is mathematics between dollars or brackets in a text.
type formula struct {
	ast.BaseInline
	source  []byte // as it stands, with its dollars
	unicode string // as it is best shown; may be empty
}

var kindFormula = ast.NewNodeKind("Formula")

func (*formula) Kind() ast.NodeKind              { return kindFormula }
func (f *formula) Dump(source []byte, level int) { ast.DumpHelper(f, source, level, nil, nil) }

// formulaParser finds formulas inside a line: $x$, \(x\), and those that are
// meant to stand alone but do not: $$x$$, \[x\].
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	opening, closing := delimiters(line)
	if opening == "" {
		return nil
	}
	body := line[len(opening):]
	end := bytes.Index(body, []byte(closing))
	if opening == "$" {
		end = closingDollar(body, block.PrecendingCharacter())
	}
	if end <= 0 || !isFormula(opening, body[:end]) {
		return nil
	}
	whole := line[:len(opening)+end+len(closing)]
	block.Advance(len(whole))
	out, _ := tex.Unicode(string(body[:end]))
	return &formula{source: whole, unicode: oneLine(out)}
}

// delimiters are what a formula at the start of s begins and ends with.
func delimiters(s []byte) (opening, closing string) {
	switch {
	case bytes.HasPrefix(s, []byte("$$")):
		return "$$", "$$"
	case bytes.HasPrefix(s, []byte("$")):
		return "$", "$"
	case bytes.HasPrefix(s, []byte(`\(`)):
		return `\(`, `\)`
	case bytes.HasPrefix(s, []byte(`\[`)):
		return `\[`, `\]`
	}
	return "", ""
}

// isFormula tells formulas from prices, escaped brackets and code.
func isFormula(opening string, body []byte) bool {
	if bytes.IndexByte(body, '`') >= 0 {
		return false
	}
	if bytes.ContainsAny(body, `=+*/^_\<>`) {
		return true
	}
	longest := 1 // letters of a word: escaped brackets are rarer round one letter
	if opening == "$" {
		longest = 2
	}
	for _, w := range bytes.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > longest {
			return false
		}
	}
	price := unicode.IsDigit(rune(body[0])) && bytes.IndexByte(body, ' ') > 0
	return opening != `\[` && !price
}

// closingDollar is the offset of the dollar that ends a formula, or -1. The
// dollars stand at the formula and apart from other words.
func closingDollar(body []byte, before rune) int {
	if isWordRune(before) || before == '$' || len(body) == 0 || body[0] == ' ' {
		return -1
	}
	end := 0
	for ; end < len(body) && body[end] != '$'; end++ {
		if body[end] == '\\' {
			end++
		}
	}
	if end >= len(body) || end == 0 || body[end-1] == ' ' {
		return -1
	}
	after, _ := utf8.DecodeRune(body[end+1:])
	if isWordRune(after) || after == '$' {
		return -1
	}
	return end
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// A display is a formula on lines of its own, between lines that are $$, or \[
// and \].
type display struct {
	ast.BaseBlock
	closing string
	closed  bool
}

var kindDisplay = ast.NewNodeKind("Display")

func (*display) Kind() ast.NodeKind              { return kindDisplay }
func (*display) IsRaw() bool                     { return true }
func (d *display) Dump(source []byte, level int) { ast.DumpHelper(d, source, level, nil, nil) }

// displayParser finds displays. An empty line ends them too, as in TeX.
type displayParser struct{}

func (displayParser) Trigger() []byte             { return []byte{'$', '\\'} }
func (displayParser) CanInterruptParagraph() bool { return true }
func (displayParser) CanAcceptIndentedLine() bool { return false }

func (displayParser) Open(_ ast.Node, reader text.Reader, ctx parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	opening := string(bytes.TrimSpace(line))
	if opening != "$$" && opening != `\[` {
		return nil, parser.NoChildren
	}
	if p, ok := ctx.LastOpenedBlock().Node.(*ast.Paragraph); ok && opening == "$$" {
		if bytes.Count(p.Lines().Value(reader.Source()), []byte(opening))%2 == 1 {
			return nil, parser.NoChildren // it ends a formula that the paragraph has begun
		}
	}
	reader.AdvanceToEOL()
	_, closing := delimiters([]byte(opening))
	return &display{closing: closing}, parser.NoChildren
}

func (displayParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	d, ok := n.(*display)
	line, segment := reader.PeekLine()
	content := bytes.TrimSpace(line)
	if !ok || d.closed || len(content) == 0 {
		return parser.Close
	}
	d.closed = bytes.HasSuffix(content, []byte(d.closing))
	d.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (displayParser) Close(ast.Node, text.Reader, parser.Context) {}

// display renders a formula on lines of its own. One that is not closed is one
// only as long as it may be.
func (r *renderer) display(d *display) {
	body := bytes.TrimSpace(d.Lines().Value(r.src))
	last := d.Lines().Len() - 1
	open := last < 0 || d.Lines().At(last).Stop == len(r.src)
	if r.th.Glyphs.Formulas && (d.closed || open) {
		if out, ok := tex.Unicode(string(bytes.TrimSuffix(body, []byte(d.closing)))); ok {
			r.push(frame{first: "  ", rest: "  ", width: 2})
			r.plain([]byte(out))
			r.pop()
			return
		}
	}
	r.plain(r.source(d))
}
