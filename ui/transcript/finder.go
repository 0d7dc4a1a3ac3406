package transcript

import (
	"sort"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/ui/theme"
)

// A finder keeps the matches of a search in a transcript. Blocks that have not
// changed are not searched again.
type finder struct {
	query   string
	matches []match
	current int
	cache   map[*block]foundIn
	goal    turn.ID // the turn whose first match is the one to stand on until it is drawn exactly
}

// A match is a stretch of cells in a line of a block.
type match struct {
	block, line int
	from, to    int
}

// foundIn are the matches of one version of a block.
type foundIn struct {
	version, generation int
	matches             []match
}

// search looks for text, without regard to case, and stands on the first match
// from the top of the screen on.
func (t *Transcript) search(query string) {
	t.find = newFinder(query)
	t.find.refresh(t)
	top := t.locate(t.top())
	for i, m := range t.find.matches {
		if m.block > top.block || m.block == top.block && m.line >= top.line {
			t.find.current = i
			break
		}
	}
	t.showMatch()
}

// EndSearch forgets the matches. It reports whether there was a search.
func (t *Transcript) EndSearch() bool {
	was := t.find.query != ""
	t.find = finder{}
	return was
}

// Found is which match is current, counted from 1, and how many there are.
func (t *Transcript) Found() (current, total int) { return t.find.current + 1, len(t.find.matches) }

func newFinder(query string) finder {
	return finder{query: strings.ToLower(query), cache: map[*block]foundIn{}}
}

// aim stands on the first match in the turn that is the goal. Its lines move
// when the exact ones replace the first draft; then the goal is reached.
func (f *finder) aim(t *Transcript) {
	if f.goal == 0 {
		return
	}
	for i, m := range f.matches {
		if b := t.blocks[m.block]; b.turn.ID == f.goal {
			f.current = i
			t.showMatch()
			if b.exact {
				f.goal = 0
			}
			return
		}
	}
}

// nextMatch goes on by some matches, around the ends.
func (t *Transcript) nextMatch(by int) {
	n := len(t.find.matches)
	t.find.goal = 0
	if n == 0 {
		return
	}
	t.find.current = ((t.find.current+by)%n + n) % n
	t.showMatch()
}

func (t *Transcript) showMatch() {
	if t.find.current < len(t.find.matches) {
		m := t.find.matches[t.find.current]
		t.reveal(t.starts[m.block] + m.line)
	}
}

// refresh searches what has changed.
func (f *finder) refresh(t *Transcript) {
	if f.query == "" {
		return
	}
	f.matches = f.matches[:0]
	for i, b := range t.blocks {
		have, ok := f.cache[b]
		if !ok || have.version != b.version || have.generation != t.generation {
			have = foundIn{b.version, t.generation, f.in(b, t.th)}
			f.cache[b] = have
		}
		for _, m := range have.matches {
			m.block = i
			f.matches = append(f.matches, m)
		}
	}
	f.current = min(f.current, max(0, len(f.matches)-1))
}

// in finds the matches of one block: none in one that cannot be drawn, see Draw.
func (f *finder) in(b *block, th theme.Theme) (all []match) {
	defer func() {
		if recover() != nil {
			all = nil
		}
	}()
	for n := range b.height() {
		plain := ansi.Strip(b.line(n, th))
		low := strings.ToLower(plain)
		if len(low) != len(plain) { // a letter whose lower case has another length
			low = plain
		}
		for at := 0; ; {
			i := strings.Index(low[at:], f.query)
			if i < 0 {
				break
			}
			from := ansi.StringWidth(plain[:at+i])
			all = append(all, match{line: n, from: from, to: from + ansi.StringWidth(plain[at+i:at+i+len(f.query)])})
			at += i + len(f.query)
		}
	}
	return all
}

// mark highlights the matches of a line.
func (f *finder) mark(line string, at anchor, th theme.Theme) string {
	if f.query == "" {
		return line
	}
	var ranges []lipgloss.Range
	i := sort.Search(len(f.matches), func(i int) bool {
		m := f.matches[i]
		return m.block > at.block || m.block == at.block && m.line >= at.line
	})
	for ; i < len(f.matches) && f.matches[i].block == at.block && f.matches[i].line == at.line; i++ {
		style := th.SearchMatch
		if i == f.current {
			style = th.SearchCurrent
		}
		ranges = append(ranges, lipgloss.NewRange(f.matches[i].from, f.matches[i].to, style))
	}
	return lipgloss.StyleRanges(line, ranges...)
}
