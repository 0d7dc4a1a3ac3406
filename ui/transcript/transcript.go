package transcript

import (
	"sort"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/markdown"
	"rookery/ui/theme"
)

// longestLine is where text is broken on wide screens: longer lines are hard to read.
const longestLine = 96

// A Transcript draws the visible line of a conversation. Only the lines on the
// screen are ever put together; what a frame costs does not depend on how long
// the conversation is.
type Transcript struct {
	th        theme.Theme
	markdown  renderer
	clipboard func(string) error // the system's
	width     int                // of the pane
	height    int
	rule      int // row of the screen in which a search is typed
	modelName string
	foldKey   string
	redoHint  string // how to bring back what is ahead
	spin      string

	generation int // counts what makes rendered text stale: width and theme
	blocks     []*block
	starts     []int // first line of each block, and the total number of lines
	version    uint64
	synced     bool
	spare      map[turn.ID]*block // while syncing, see cut
	head       int                // the block that says what is ahead of the head, or -1
	rendering  bool               // a command is at work

	at       anchor // the line at the top, unless follow
	follow   bool   // stick to the end
	atHead   bool   // the end that is stuck to is the head, if something is ahead of it
	below    bool   // text has arrived below the screen
	selected int    // block, or -1
	marked   selection
	find     finder
}

// An anchor is a place in the text that stays where it is when blocks above
// it change their height.
type anchor struct{ block, line int }

// A renderer makes lines of markdown.
type renderer func(text string, th theme.Theme, width int) []string

// Options say what a transcript needs to know of the program.
type Options struct {
	Theme     theme.Theme
	Keys      keys.Map
	ModelName string             // of answers that do not say it
	Clipboard func(string) error // puts a text on the system's clipboard; it may block
}

// New is the transcript of a conversation: an empty one until Sync.
func New(o Options) *Transcript {
	t := &Transcript{
		th: o.Theme, markdown: markdown.Render, clipboard: o.Clipboard, modelName: o.ModelName,
		follow: true, atHead: true, selected: -1, head: -1, starts: []int{0}, spin: "…", generation: 1,
	}
	t.setHints(o.Keys)
	return t
}

// setHints takes over the keys that the text mentions.
func (t *Transcript) setHints(m keys.Map) {
	t.foldKey = m.Hint(keys.Composer, keys.Fold)
	t.redoHint = kit.HintIn(m, keys.Redo) + " brings it back · " + kit.HintIn(m, keys.Scrub) + " goes anywhere"
}

// SetSize gives the pane its size. rule is the row of the screen in which a
// search is typed.
func (t *Transcript) SetSize(width, height, rule int) {
	t.rule = rule
	if width == t.width && height == t.height {
		return
	}
	rewrap := width != t.width
	t.width, t.height = width, height
	if rewrap {
		t.outdate()
	}
}

// SetLooks changes the theme, and the keys that the text mentions.
func (t *Transcript) SetLooks(th theme.Theme, m keys.Map) {
	t.th = th
	t.setHints(m)
	t.outdate()
}

// textWidth is what a message is broken to; the gutter takes two cells.
func (t *Transcript) textWidth() int { return max(1, min(t.width-3, longestLine)) }

// outdate makes all rendered text stale and draws what the screen needs at once.
func (t *Transcript) outdate() {
	t.generation++
	t.marked = selection{}
	for _, b := range t.blocks {
		b.exact = false
		if b.live != nil && b.stream != nil {
			b.stream = nil
			t.guard(b, func() { b.feed(b.live, t.th, t.textWidth()) })
			b.gen = t.generation
		}
		t.decorate(b)
	}
	t.draft()
}

// Animate shows the next picture of what is running.
func (t *Transcript) Animate(spin string) {
	t.spin = spin
	if n := len(t.blocks); n > 0 && t.blocks[n-1].live != nil {
		t.decorate(t.blocks[n-1])
	}
}

func (t *Transcript) decorate(b *block) {
	if b.plain {
		t.showPlain(b)
		return
	}
	t.guard(b, func() { b.decorate(t.th, t.textWidth(), t.modelName, t.spin, t.foldKey) })
	b.version++
}

// draft gives lines to the blocks that the screen shows and that have none for
// the present width, and counts the lines. Exact ones follow from renderJob.
func (t *Transcript) draft() {
	const budget = 64 << 10 // bytes of text that are cheap enough to break at once
	width, spent := t.textWidth(), 0
	first, step := len(t.blocks)-1, -1
	if !t.follow {
		first, step = t.at.block, 1
	} else if t.atHead && t.head >= 0 {
		first = min(t.head+2, first)
	}
	for i := first; i >= 0 && i < len(t.blocks) && spent < budget; i += step {
		b := t.blocks[i]
		if b.gen != t.generation && b.live == nil {
			spent += min(len(b.answer), foldedPromptBytes)
			if !b.longPrompt() || !b.folded {
				spent += len(b.answer)
			}
			if b.plain {
				t.showPlain(b)
				continue
			}
			t.guard(b, func() { b.body = b.draft(width) })
			b.gen, b.exact = t.generation, b.plain || b.longPrompt() && b.folded
			b.version++
		}
	}
	t.index()
}

// index counts the lines of all blocks.
func (t *Transcript) index() {
	t.starts = t.starts[:0]
	total := 0
	for _, b := range t.blocks {
		t.starts = append(t.starts, total)
		total += t.heightOf(b)
	}
	t.starts = append(t.starts, total)
	t.find.refresh(t)
}

// heightOf is the height of a block, which is plain if it cannot be counted.
func (t *Transcript) heightOf(b *block) (lines int) {
	if !t.guard(b, func() { lines = b.height() }) {
		lines = b.height()
	}
	return lines
}

func (t *Transcript) total() int { return t.starts[len(t.starts)-1] }

// top is the first line on the screen.
func (t *Transcript) top() int {
	last := max(0, t.total()-t.height)
	if t.follow && t.atHead && t.head >= 0 {
		const above = 3 // of 4 parts of the screen
		return min(max(0, t.starts[t.head]-t.height*above/4), last)
	}
	if t.follow || t.at.block >= len(t.blocks) {
		return last
	}
	line := min(t.at.line, t.blocks[t.at.block].height()-1)
	return min(t.starts[t.at.block]+line, last)
}

// locate finds the block of a line and the line's index in it.
func (t *Transcript) locate(line int) anchor {
	if len(t.blocks) == 0 {
		return anchor{}
	}
	i := sort.Search(len(t.blocks), func(i int) bool { return t.starts[i+1] > line })
	i = min(i, len(t.blocks)-1)
	return anchor{i, max(0, line-t.starts[i])}
}
