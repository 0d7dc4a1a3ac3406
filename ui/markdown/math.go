package markdown

import "github.com/yuin/goldmark/ast"

type formula struct {
	ast.BaseInline
	text []byte
}

var kindFormula = ast.NewNodeKind("Formula")

func (*formula) Kind() ast.NodeKind { return kindFormula }
func (*formula) Dump([]byte, int)   {}
