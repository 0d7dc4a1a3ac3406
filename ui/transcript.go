package ui

import (
	"sort"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// longestLine is where text is broken on wide screens: longer lines are hard to read.
const longestLine = 120

// A transcript draws the visible line of a conversation. Only the lines on the
// screen are ever put together; what a frame costs does not depend on how long
// the conversation is.
type transcript struct {
	th        theme.Theme
	width     int // of the pane
	height    int
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

func newTranscript(th theme.Theme, modelName string) *transcript {
	return &transcript{th: th, modelName: modelName, follow: true, atHead: true, selected: -1, head: -1, starts: []int{0}, spin: "…", generation: 1}
}

// setSize gives the pane its place on the screen.
func (t *transcript) setSize(width, height int) {
	if width == t.width && height == t.height {
		return
	}
	rewrap := width != t.width
	t.width, t.height = width, height
	if rewrap {
		t.outdate()
	}
}

// setTheme changes the looks.
func (t *transcript) setTheme(th theme.Theme) {
	t.th = th
	t.outdate()
}

// textWidth is what a message is broken to; the gutter takes two cells.
func (t *transcript) textWidth() int { return max(1, min(t.width-3, longestLine)) }

// outdate makes all rendered text stale and draws what the screen needs at once.
func (t *transcript) outdate() {
	t.generation++
	t.marked = selection{}
	for _, b := range t.blocks {
		b.exact = false
		if b.live != nil && b.stream != nil {
			b.stream.SetTheme(t.th)
			b.stream.SetWidth(t.textWidth())
			b.gen = t.generation
		}
		t.decorate(b)
	}
	t.draft()
}

// sync takes over what has changed in a dialogue.
func (t *transcript) sync(v chat.View) {
	if t.synced && v.Version == t.version {
		return
	}
	t.synced, t.version = true, v.Version
	n := 0
	for i, tn := range v.Turns {
		t.place(n, tn, siblingsOf(v, i), false)
		n++
	}
	t.head = -1
	if len(v.Ahead) > 0 {
		t.head = n
		t.placeDivider(n, len(v.Ahead))
		n++
		for i, tn := range v.Ahead {
			t.place(n, tn, siblingsOf(v, len(v.Turns)+i), true)
			n++
		}
	}
	t.spare = nil
	if v.Live != nil {
		t.placeLive(n, v.Live)
		n++
	}
	if v.Err != nil {
		b := &block{failure: kit.OneLine(v.Err.Error()), body: fixedLines(nil), gen: t.generation, exact: true}
		t.decorate(b)
		t.blocks = append(t.blocks[:n], b)
		n++
	}
	t.blocks = t.blocks[:n]
	if t.selected >= n {
		t.selected = n - 1
	}
	t.draft()
}

// place puts a finished turn at index i.
func (t *transcript) place(i int, tn turn.Turn, sibling chat.Siblings, ahead bool) {
	if i < len(t.blocks) {
		b := t.blocks[i]
		if b.shows(tn, sibling) {
			b.turn = tn
			b.setAhead(ahead)
			return
		}
		if b.live != nil && b.turn.ID == tn.ID {
			b.settle(tn, sibling)
			t.decorate(b)
			return
		}
		t.cut(i)
	}
	b := t.spare[tn.ID]
	if b == nil || !b.shows(tn, sibling) {
		b = newBlock(tn, sibling)
		t.decorate(b)
	}
	b.setAhead(ahead)
	t.blocks = append(t.blocks, b)
}

// placeLive puts the running answer at index i.
func (t *transcript) placeLive(i int, live *chat.Live) {
	if i >= len(t.blocks) || t.blocks[i].turn.ID != live.Turn.ID || t.blocks[i].failure != "" {
		t.blocks = append(t.blocks[:i], &block{turn: live.Turn, folded: true})
	}
	b := t.blocks[i]
	before := 0
	if b.body != nil {
		before = b.body.Len()
	}
	b.feed(live, t.th, t.textWidth())
	b.gen = t.generation
	t.decorate(b)
	if !t.follow && b.body.Len() > before {
		t.below = true
	}
}

// animate shows the next picture of what is running.
func (t *transcript) animate(spin string) {
	t.spin = spin
	if n := len(t.blocks); n > 0 && t.blocks[n-1].live != nil {
		t.decorate(t.blocks[n-1])
	}
}

func (t *transcript) decorate(b *block) {
	b.decorate(t.th, t.textWidth(), t.modelName, t.spin, t.foldKey)
	b.version++
}

// draft gives lines to the blocks that the screen shows and that have none for
// the present width, and counts the lines. Exact ones follow from renderJob.
func (t *transcript) draft() {
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
			b.body, b.gen = b.draft(width), t.generation
			b.exact = b.longPrompt() && b.folded
			b.version++
		}
	}
	t.index()
}

// index counts the lines of all blocks.
func (t *transcript) index() {
	t.starts = t.starts[:0]
	total := 0
	for _, b := range t.blocks {
		t.starts = append(t.starts, total)
		total += b.height()
	}
	t.starts = append(t.starts, total)
	t.find.refresh(t)
}

func (t *transcript) total() int { return t.starts[len(t.starts)-1] }

// top is the first line on the screen.
func (t *transcript) top() int {
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
func (t *transcript) locate(line int) anchor {
	if len(t.blocks) == 0 {
		return anchor{}
	}
	i := sort.Search(len(t.blocks), func(i int) bool { return t.starts[i+1] > line })
	i = min(i, len(t.blocks)-1)
	return anchor{i, max(0, line-t.starts[i])}
}

// draw returns exactly height lines.
func (t *transcript) draw() []string {
	lines := make([]string, 0, t.height)
	top := t.top()
	place := t.locate(top)
	for n := top; n < t.total() && len(lines) < t.height; n++ {
		b := t.blocks[place.block]
		line := b.line(place.line, t.th)
		line = t.find.mark(line, place, t.th)
		line = t.marked.mark(line, n, t.th)
		edge := gutter(t.th, place.block == t.selected && place.line < b.height()-1, b.ahead)
		lines = append(lines, kit.Fit(edge+line, t.width))
		if place.line++; place.line >= b.height() {
			place = anchor{block: place.block + 1}
		}
	}
	for len(lines) < t.height {
		lines = append(lines, "")
	}
	return lines
}

// renderJob returns text that has no exact lines yet, as much as one command
// should take: what is on the screen first. It returns nil while another
// command is at work.
func (t *transcript) renderJob() []*block {
	const batch = 32 << 10
	if t.rendering || t.width == 0 {
		return nil
	}
	var jobs []*block
	taken := 0
	add := func(b *block) {
		if b.live == nil && (!b.exact || b.gen != t.generation) && (taken == 0 || taken+len(b.answer) <= batch) {
			jobs = append(jobs, b)
			taken += len(b.answer) + 1
		}
	}
	shown := t.locate(t.top()).block
	for i := shown; i < len(t.blocks); i++ {
		add(t.blocks[i])
	}
	for i := shown - 1; i >= 0; i-- {
		add(t.blocks[i])
	}
	return jobs
}

// rendered takes over what a command has made of blocks.
func (t *transcript) rendered(generation int, lines map[*block][]string) {
	t.rendering = false
	if generation != t.generation {
		return
	}
	for b, exact := range lines {
		if b.live != nil {
			continue
		}
		b.body, b.gen, b.exact, b.stream = fixedLines(exact), generation, true, nil
		b.version++
		t.decorate(b)
	}
	t.index()
	t.find.aim(t)
}
