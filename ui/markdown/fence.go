package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"

	"rookery/ui/markdown/syntax"
)

// A fence is an open code fence at the top level. Its lines are final as soon
// as they are complete, so they are neither parsed again nor kept apart.
type fence struct {
	mark     byte
	length   int // of the opening marks
	indent   int // blanks to take from each line
	language *syntax.Language
	state    syntax.State
}

// openFence starts a fence if the open leaf is one whose first line is
// complete.
func (s *Stream) openFence(leaf ast.Node) bool {
	n, ok := leaf.(*ast.FencedCodeBlock)
	if !ok || n.Parent().Kind() != ast.KindDocument {
		return false
	}
	open := s.src[s.off:]
	end := bytes.IndexByte(open, '\n')
	if end < 0 {
		return false
	}
	marks := bytes.TrimLeft(open[:end], " ")
	if len(marks) == 0 {
		return false
	}
	f := &fence{mark: marks[0], indent: end - len(marks)}
	for f.length < len(marks) && marks[f.length] == f.mark {
		f.length++
	}
	if f.mark != '`' && f.mark != '~' || f.length < 3 {
		return false
	}
	f.language = syntax.Find(string(n.Language(s.r.src)))
	s.off += end + 1
	s.fence, s.tail = f, nil
	return true
}

// advanceFence renders new lines of the open fence. It returns true when the
// fence has ended.
func (s *Stream) advanceFence() bool {
	f := s.fence
	s.tail = nil
	for {
		open := s.src[s.off:]
		end := bytes.IndexByte(open, '\n')
		if end < 0 {
			break
		}
		if f.closes(open[:end]) {
			s.endFence(end + 1)
			return true
		}
		rows, state := s.codeRows(open[:end])
		f.state = state
		s.lines = append(s.lines, rows...)
		s.seam = seam{began: true}
		s.off += end + 1
	}
	// The last line is not complete: what looks like the end may go on.
	if open := s.src[s.off:]; len(open) > 0 && !f.closes(open) {
		s.tail, _ = s.codeRows(open)
	}
	return false
}

// codeRows renders one line of the fence and returns what it leaves open.
func (s *Stream) codeRows(text []byte) ([]string, syntax.State) {
	f, r := s.fence, s.r
	r.out, r.frames = nil, r.frames[:0]
	r.began, r.wantGap, r.gapDepth = s.seam.began, s.seam.gap || s.seam.prev, 0
	state := r.openCodeLine(codeText(f.strip(text)), f.language, f.state)
	s.work += len(text) + len(r.out)
	return r.out, state
}

// endFence leaves the fence behind, skipping n bytes of its last line.
func (s *Stream) endFence(n int) {
	s.seam = seam{gap: true, prev: true, began: s.seam.began}
	s.off += n
	s.fence, s.tail = nil, nil
}

// closes says whether a line ends the fence.
func (f *fence) closes(l []byte) bool {
	text := bytes.TrimLeft(l, " ")
	if len(l)-len(text) > 3 {
		return false
	}
	n := 0
	for n < len(text) && text[n] == f.mark {
		n++
	}
	return n >= f.length && len(bytes.Trim(text[n:], " \t")) == 0
}

// strip takes the indentation of the fence from a line. Of a tab that is wider
// than that, blanks are left.
func (f *fence) strip(l []byte) []byte {
	columns, i := 0, 0
	for ; i < len(l) && columns < f.indent && (l[i] == ' ' || l[i] == '\t'); i++ {
		if l[i] == '\t' {
			columns += 4 - columns%4
		} else {
			columns++
		}
	}
	if columns > f.indent {
		return append(bytes.Repeat([]byte(" "), columns-f.indent), l[i:]...)
	}
	return l[i:]
}
