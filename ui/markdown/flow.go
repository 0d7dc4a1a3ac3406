package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A flow is styled text on its way into lines: first bytes with pens, then
// cells, then lines. It is reused from block to block.
type flow struct {
	text  []byte
	runs  []run
	marks []mark
	cells []cell
}

// A run is a stretch of text up to an end, in one pen.
type run struct {
	end int
	pen pen
}

// A mark says that the text from at on stands in the source from src on; src
// is negative where the text has no place of its own in the source.
type mark struct{ at, src int }

// A cell is one grapheme cluster, one or two terminal cells wide.
type cell struct {
	from, to int32 // its bytes in text
	src      int32 // its offset in the source, or -1
	pen      pen
	width    uint8
	kind     kind
}

type kind uint8

const (
	cellWord    kind = iota
	cellSpace        // a line may break after it
	cellBreak        // the line ends here
	cellWide         // ideographs and the like: a line may break on either side
	cellClosing      // wide punctuation that must not begin a line
	cellCode         // lines of code break anywhere
)

// A line is a range of cells.
type line struct{ from, to int }

func (f *flow) reset() {
	f.text, f.runs, f.marks, f.cells = f.text[:0], f.runs[:0], f.marks[:0], f.cells[:0]
}

// addString appends text that is not in the source.
func (f *flow) addString(s string, p pen) {
	if s == "" {
		return
	}
	f.marks = append(f.marks, mark{len(f.text), -1})
	f.text = append(f.text, s...)
	f.ink(p)
}

// addFlow appends the text of another flow.
func (f *flow) addFlow(other *flow) {
	at := 0
	for _, r := range other.runs {
		f.addString(string(other.text[at:r.end]), r.pen)
		at = r.end
	}
}

// ink gives the text that has no pen yet p. Equal neighbours become one run,
// so that clusters are found as the terminal will see them.
func (f *flow) ink(p pen) {
	if n := len(f.runs); n > 0 && f.runs[n-1].pen == p {
		f.runs[n-1].end = len(f.text)
		return
	}
	f.runs = append(f.runs, run{len(f.text), p})
}

// addStyled appends text that Glamour has styled: text between sequences that
// switch a style on, and off again. Where it stands in the source is marked
// already.
func (f *flow) addStyled(s []byte, pens *penCase) {
	given, style, muted := pen(0), pen(0), false // given is what Glamour means
	for len(s) > 0 {
		n := bytes.IndexFunc(s, isStyling)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			f.text = append(f.text, s[:n]...)
			if muted {
				f.ink(pens.muted)
			} else {
				f.ink(style)
			}
		}
		if s = s[n:]; len(s) == 0 {
			return
		}
		end := 0
		switch c := s[0]; c {
		case mutedOn, mutedOff:
			muted = c == mutedOn
		case '\x1b':
			end = max(0, bytes.IndexByte(s, 'm'))
			given = pens.ofSequence(string(s[:end+1]))
			style = given
		default:
			style = pens.emphasized(given, c-emphatic)
		}
		s = s[end+1:]
	}
}

func isStyling(r rune) bool { return r == '\x1b' || r >= mutedOn && r <= emphatic+bold+italic }

// segment finds the cells of the text.
func (f *flow) segment() {
	at, m := 0, 0
	for _, r := range f.runs {
		for at < r.end {
			c := cell{from: int32(at), src: -1, pen: r.pen}
			for m+1 < len(f.marks) && f.marks[m+1].at <= at {
				m++
			}
			if k := f.marks[m]; k.src >= 0 {
				c.src = int32(k.src + at - k.at)
			}
			at += f.cluster(&c, f.text[at:r.end])
			c.to = int32(at)
			f.cells = append(f.cells, c)
		}
	}
}

// cluster describes the first cell of s and returns its length.
func (f *flow) cluster(c *cell, s []byte) int {
	b := s[0]
	if b == '\n' {
		c.kind = cellBreak
		return 1
	}
	if b < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		c.width = 1
		if b == ' ' {
			c.kind = cellSpace
		}
		return 1
	}
	g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if len(g) == 0 {
		return len(s)
	}
	c.width = uint8(min(w, 255))
	if b == ' ' {
		c.kind = cellSpace
	} else if w == 2 {
		c.kind = cellWide
		if r, _ := utf8.DecodeRune(g); unicode.In(r, unicode.Pe, unicode.Pf, unicode.Po) {
			c.kind = cellClosing
		}
	}
	return len(g)
}

// lines breaks the cells into lines of at most width, at least 1: at spaces,
// after hyphens inside words, between ideographs, and anywhere if nothing else
// fits. Spaces around a break are not part of a line, except where the source
// broke it. Cells that are wider than a whole line become question marks.
func (f *flow) lines(width int, dst []line) []line {
	cells := f.cells
	for start := 0; start < len(cells); {
		end, next := f.fit(start, width)
		dst = append(dst, line{start, f.trim(start, end)})
		if next == len(cells) {
			break
		}
		start = next
	}
	return dst
}

// fit returns the end of the line that begins at start and where the next one
// begins.
func (f *flow) fit(start, width int) (end, next int) {
	cells := f.cells
	used, breakAt := 0, -1
	for j := start; j < len(cells); j++ {
		c := &cells[j]
		if c.kind == cellBreak {
			return j, j + 1
		}
		if int(c.width) > width {
			f.shrink(c)
		}
		if used+int(c.width) > width && c.kind != cellSpace {
			if breakAt <= start {
				breakAt = j
			}
			end, next = breakAt, breakAt
			for next < len(cells) && cells[next].kind == cellSpace {
				next++
			}
			return end, next
		}
		used += int(c.width)
		if f.mayBreakAfter(j) {
			breakAt = j + 1
		}
	}
	return len(cells), len(cells)
}

func (f *flow) mayBreakAfter(j int) bool {
	c := f.cells[j]
	if j+1 == len(f.cells) {
		return true
	}
	next := f.cells[j+1].kind
	switch {
	case next == cellClosing:
		return false
	case c.kind == cellSpace, c.kind == cellWide, c.kind == cellClosing, next == cellWide:
		return true
	case c.kind == cellWord && f.text[c.from] == '-' && j > 0:
		return isLetter(f.text[f.cells[j-1].from:]) && isLetter(f.text[f.cells[j+1].from:])
	}
	return false
}

// shrink makes a cell that cannot fit on any line one cell wide.
func (f *flow) shrink(c *cell) {
	at := len(f.text)
	f.text = append(f.text, '?')
	c.from, c.to, c.width, c.kind = int32(at), int32(at+1), 1, cellWord
}

// trim drops spaces at the end of a line.
func (f *flow) trim(from, to int) int {
	for to > from && f.cells[to-1].kind == cellSpace {
		to--
	}
	return to
}

// measure is the width of a line.
func (f *flow) measure(l line) int {
	w := 0
	for _, c := range f.cells[l.from:l.to] {
		w += int(c.width)
	}
	return w
}

// paint appends a line with the escape sequences of its pens; it ends without
// style.
func (f *flow) paint(dst []byte, l line, pens *penCase) []byte {
	for i := l.from; i < l.to; {
		c := f.cells[i]
		j := i + 1
		for j < l.to && f.cells[j].pen == c.pen && f.cells[j].from == f.cells[j-1].to {
			j++
		}
		seq := pens.sequences[c.pen]
		dst = append(dst, seq...)
		dst = append(dst, f.text[c.from:f.cells[j-1].to]...)
		if seq != "" {
			dst = append(dst, "\x1b[m"...)
		}
		i = j
	}
	return dst
}

func isLetter(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	return unicode.IsLetter(r)
}
