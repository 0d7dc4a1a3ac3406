package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Parsing and rendering recurse into a text's structure, and the author of a
// text may nest it as deep as he likes. What goes beyond these bounds is plain
// text.
const (
	maxDepth = 32   // quotations and list items inside one another
	maxMarks = 1000 // marks of emphasis and links in one block
	// maxTable bounds the cells of a table. Every row is padded to the columns
	// of the header, so a short text could otherwise make millions of cells.
	maxTable = 20_000
)

// boundedContainer is a parser of quotations or lists that opens none below
// maxDepth.
type boundedContainer struct{ parser.BlockParser }

func (b boundedContainer) Open(parent ast.Node, reader text.Reader, ctx parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindBlockquote || n.Kind() == ast.KindListItem {
			depth++
		}
	}
	if depth >= maxDepth {
		return nil, parser.NoChildren
	}
	return b.BlockParser.Open(parent, reader, ctx)
}

// boundedMarks is a parser of marks that takes them for text after maxMarks in
// one block: goldmark compares every closing mark with all open ones.
type boundedMarks struct{ parser.InlineParser }

// A markCount counts the marks of a block.
type markCount struct {
	block ast.Node
	marks int
}

var markCountKey = parser.NewContextKey()

func (b boundedMarks) Parse(parent ast.Node, block text.Reader, ctx parser.Context) ast.Node {
	c, _ := ctx.Get(markCountKey).(*markCount)
	if c == nil || c.block != parent {
		c = &markCount{block: parent}
		ctx.Set(markCountKey, c)
	}
	if c.marks++; c.marks > maxMarks {
		return nil
	}
	return b.InlineParser.Parse(parent, block, ctx)
}

// boundedLinks is a parser of links, which also learns where a block ends.
type boundedLinks struct {
	boundedMarks
	parser.CloseBlocker
}

func newBoundedLinks() boundedLinks {
	links := parser.NewLinkParser()
	closer, _ := links.(parser.CloseBlocker)
	return boundedLinks{boundedMarks{links}, closer}
}

// boundedTables leaves paragraphs alone that would make a monstrous table.
type boundedTables struct{ parser.ParagraphTransformer }

func (b boundedTables) Transform(n *ast.Paragraph, reader text.Reader, ctx parser.Context) {
	columns := 0
	for _, seg := range n.Lines().Sliced(0, n.Lines().Len()) {
		columns = max(columns, bytes.Count(seg.Value(reader.Source()), []byte("|"))+1)
	}
	if columns*n.Lines().Len() > maxTable {
		return
	}
	parent, before := n.Parent(), n.PreviousSibling()
	b.ParagraphTransformer.Transform(n, reader, ctx)
	if n.Parent() != nil {
		return
	}
	// The table took the paragraph's place; it must take this from it too.
	table := parent.FirstChild()
	if before != nil {
		table = before.NextSibling()
	}
	table.SetBlankPreviousLines(n.HasBlankPreviousLines())
}

// showSource shows a block as it stands if rendering it has panicked. It is
// deferred with the lengths of what the block was to add to.
func (r *renderer) showSource(n ast.Node, rows, frames, lists int) {
	if recover() == nil {
		return
	}
	r.out, r.frames, r.lists = r.out[:rows], r.frames[:frames], r.lists[:lists]
	r.plain(r.source(n))
}

// plain renders text as it stands.
func (r *renderer) plain(text []byte) {
	r.flow.reset()
	r.flow.addString(string(expandTabs(text)), 0)
	r.flow.segment()
	r.emitFlow()
}

// source is what a block was made from, up to where the next one begins.
func (r *renderer) source(n ast.Node) []byte {
	start, end := max(0, lineStart(n, r.src)), len(r.src)
	for p := n; p != nil; p = p.Parent() {
		if next := p.NextSibling(); next != nil {
			end = max(start, lineStart(next, r.src))
			break
		}
	}
	return bytes.TrimSpace(r.src[start:end])
}
