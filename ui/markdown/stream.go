package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"rookery/ui/terminal"
	"rookery/ui/theme"
)

// A Stream renders a text that is still being written. Lines that are
// finished stay as they are; the last few may change with each Append. Render
// takes its place when the text has ended: it knows link definitions that come
// late, emphasis across what the stream has cut, and colours code in its
// context. A Stream is not safe for concurrent use.
type Stream struct {
	limits limits
	clean  terminal.Cleaner
	r      *renderer
	work   int // bytes read and lines made so far, for tests

	src []byte // the clean text so far
	off int    // src[:off] is rendered to lines and forgotten

	lines []string
	defs  []parser.Reference

	seam    seam   // how src[off:] follows
	fence   *fence // src[off:] is inside a code fence
	tail    []string
	backlog backlog
}

// limits bound the work of one Append. They are variables for tests only.
type limits struct {
	paragraph int // bytes of an open paragraph from which on its lines are finished
	keep      int // bytes at its end that stay open
	block     int // bytes of any other open block from which on it is not parsed each time
}

// New returns an empty stream for lines of at most width cells.
func New(th theme.Theme, width int) *Stream {
	return &Stream{
		clean:  terminal.Cleaner{Show: true},
		r:      newRenderer(th, width),
		limits: limits{paragraph: 512, keep: 128, block: 8 << 10},
	}
}

// Append adds text. Pieces may be cut anywhere, also inside a character.
func (s *Stream) Append(text string) {
	if text == "" {
		return
	}
	s.src = s.clean.Append(s.src, text)
	s.advance()
}

// advance renders the open part of the text and keeps what of it is final.
func (s *Stream) advance() {
	for {
		if s.fence != nil {
			if !s.advanceFence() {
				return
			}
		}
		open := s.src[s.off:]
		if s.postpone(open) {
			return
		}
		s.backlog = backlog{}
		doc := parse(open, s.defs)
		leaf := openLeaf(doc, open)
		s.r.document(doc, open, s.seam, leaf)
		s.work += len(open) + len(s.r.out)
		s.commit(leaf, open)
		s.finishText(leaf)
		if !s.openFence(leaf) {
			break
		}
	}
	if open := len(s.src) - s.off; open > s.limits.block {
		s.backlog = backlog{parsed: open, raw: len(s.src)}
	}
}

// commit keeps the lines in front of the open leaf.
func (s *Stream) commit(leaf ast.Node, open []byte) {
	r, c := s.r, s.r.cut
	at := 0
	if leaf != nil {
		at = lineStart(leaf, open)
	}
	if at <= 0 {
		s.tail = r.out
		return
	}
	s.defs = append(s.defs, r.defs[:c.defs]...)
	s.lines, s.tail = append(s.lines, r.out[:c.rows]...), r.out[c.rows:]
	s.off += at
	s.seam = c.seam
	for i := range r.wrap {
		r.wrap[i].row -= c.rows
		r.wrap[i].src -= at
		r.wrap[i].last -= at // or stays negative
	}
}

// finishText keeps the first lines of a long open paragraph.
func (s *Stream) finishText(leaf ast.Node) {
	r := s.r
	open := len(s.src) - s.off
	if open <= s.limits.paragraph || leaf == nil || leaf.Kind() != ast.KindParagraph || r.cut.seam.depth > 0 {
		return
	}
	at, sure := r.lastStart(open-s.limits.keep, r.opener-(len(r.src)-open))
	if at.src <= 0 || !sure && open <= 2*s.limits.paragraph {
		return
	}
	s.lines, s.tail = append(s.lines, s.tail[:at.row]...), s.tail[at.row:]
	s.off += at.src
	s.seam = seam{began: true}
}

// lastStart is the last line start of the open paragraph at or before the
// offset to, and whether the text can be cut there without changing it, with
// the first mark that may still pair up at opener. The whole line must come
// before that: marks that pair up vanish, and what is left of a word may fit
// on the line before.
func (r *renderer) lastStart(to, opener int) (at rowStart, sure bool) {
	for i := len(r.wrap) - 1; i >= 0; i-- {
		w := r.wrap[i]
		if w.src > to || w.row == 0 {
			continue
		}
		if w.clean && w.last >= 0 && w.last < opener {
			return w, true
		}
		if at.src == 0 {
			at = w
		}
	}
	return at, false
}

// Len is the number of lines.
func (s *Stream) Len() int { return len(s.lines) + len(s.tail) + len(s.backlog.lines) }

// Line is the line at i, with escape sequences for its styles and without
// trailing blanks.
func (s *Stream) Line(i int) string {
	if i < len(s.lines) {
		return s.lines[i]
	}
	i -= len(s.lines)
	if i < len(s.tail) {
		return s.tail[i]
	}
	return s.backlog.lines[i-len(s.tail)]
}
