package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar is CommonMark with tables, strikethrough, task lists, bare links and
// formulas, without HTML: a tag is text. It is safe for concurrent use.
var grammar = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(boundedContainer{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(displayParser{}, 750),
		util.Prioritized(boundedContainer{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(extension.NewTaskCheckBoxParser(), 50),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(formulaParser{}, 150),
		util.Prioritized(newBoundedLinks(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(boundedMarks{parser.NewEmphasisParser()}, 500),
		util.Prioritized(boundedMarks{extension.NewStrikethroughParser()}, 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(boundedTables{extension.NewTableParagraphTransformer()}, 200),
	),
	parser.WithASTTransformers(
		util.Prioritized(extension.NewTableASTTransformer(), 0),
	),
)

// parse reads src, with link definitions that came before it. What the parser
// cannot bear is one block of code.
func parse(src []byte, defs []parser.Reference) (doc ast.Node) {
	defer func() {
		if recover() != nil {
			doc = ast.NewDocument()
			doc.AppendChild(doc, verbatim(src))
		}
	}()
	ctx := parser.NewContext()
	for _, d := range defs {
		ctx.AddReference(d)
	}
	return grammar.Parse(text.NewReader(src), parser.WithContext(ctx))
}

// verbatim is a block of code that shows src as it stands.
func verbatim(src []byte) ast.Node {
	n := ast.NewCodeBlock()
	n.SetPos(0)
	for start := 0; start < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		n.Lines().Append(text.NewSegment(start, end))
		start = end
	}
	return n
}

// openLeaf is the first block that could still change if more text came, as
// deep as the text can be cut in front of it: in a list that is an item. It is
// the last block, but not one that is still on its first line: "#" may go on as
// "#tag" and belong to the paragraph before. It is nil for an empty document.
func openLeaf(doc ast.Node, src []byte) ast.Node {
	unfinished := bytes.LastIndexByte(src, '\n') + 1
	parent := doc
	for {
		n := parent.LastChild()
		for n != nil && n.PreviousSibling() != nil && (lineStart(n, src) >= unfinished || continues(n, src)) {
			n = n.PreviousSibling()
		}
		if n == nil || !isChain(n) || n.LastChild() == nil {
			return n
		}
		parent = n
	}
}

// continues says whether a block and the one before it are of one paragraph:
// a block after a link definition may yet turn out to be its title, and a table
// may begin on a line that is nothing by itself.
func continues(n ast.Node, src []byte) bool {
	prev := n.PreviousSibling()
	if n.Kind() == extast.KindTable && prev.Kind() == ast.KindParagraph && prev.Pos() == n.Pos() {
		return true
	}
	if prev.Kind() != ast.KindLinkReferenceDefinition {
		return false
	}
	before := bytes.TrimSuffix(src[:max(0, lineStart(n, src))], []byte("\n"))
	return len(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])) > 0
}

// isChain says whether a container's source can be cut between its children
// and the rest still be parsed as the same container: every line of a
// quotation, and the first line of every list item, repeats the mark.
func isChain(n ast.Node) bool {
	return n.Kind() == ast.KindBlockquote || n.Kind() == ast.KindList
}

// lineStart is the offset of the line on which n begins, or -1.
func lineStart(n ast.Node, src []byte) int {
	pos := n.Pos()
	if pos < 0 || pos > len(src) {
		return -1
	}
	return bytes.LastIndexByte(src[:pos], '\n') + 1
}

// spaced says whether a block stands apart from its neighbours even where the
// source has no blank line.
func spaced(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindHeading, ast.KindFencedCodeBlock, ast.KindCodeBlock, ast.KindThematicBreak,
		ast.KindBlockquote, extast.KindTable:
		return true
	}
	return false
}
