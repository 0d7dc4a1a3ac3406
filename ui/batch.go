package ui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A Batch is a file of prompts that are answered by variants, without a
// conversation.
type Batch struct {
	Prompts  string // a file
	Out      string // a file of results, which are written as they come
	Variants []chat.Variant
	Progress func(done, total int) // called from another goroutine
}

// A BatchTable is what came of a Batch: a line of names and one for each
// variant.
type BatchTable [][]string

var errNoBatch = errors.New("files of prompts are answered by `rookery compare` here")

// batchFiles are where prompts come from and answers go.
type batchFiles struct{ prompts, out string }

// answersFile is where answers to the prompts of a file go if nobody says.
func answersFile(prompts string) string {
	return strings.TrimSuffix(prompts, filepath.Ext(prompts)) + ".answers.jsonl"
}

type (
	// askBatch asks for the file of prompts, askBatchOut for that of answers.
	askBatch    struct{ s *setup }
	askBatchOut struct {
		s       *setup
		prompts string
	}
)

func (i askBatch) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	if m.options.Batch == nil {
		i.s.said = errNoBatch.Error()
		return nil
	}
	m.OpenDialog(kit.NewQuestion(m.th, "File of prompts", "A prompt a line, or JSON with \"prompt\" or \"messages\". All variants answer all of them; this conversation stays as it is.", "next", "", false, func(h kit.Host, path string) tea.Cmd {
		if path = strings.TrimSpace(path); path == "" {
			return kit.Close(h)
		}
		return askBatchOut{i.s, path}.do(h)
	}))
	return nil
}

func (i askBatchOut) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	m.OpenDialog(kit.NewQuestion(m.th, "Write the answers to", "A line of JSON for each prompt. Of a file that is there already it goes on, if it is of the same variants and prompts.", "start", answersFile(i.prompts), false, func(h kit.Host, path string) tea.Cmd {
		if path = strings.TrimSpace(path); path == "" {
			return kit.Close(h)
		}
		return batchNow{compareNow{s: i.s, batch: &batchFiles{kit.ExpandHome(i.prompts), kit.ExpandHome(path)}}}.do(h)
	}))
	return nil
}

// batchNow takes the question away and starts.
type batchNow struct{ compareNow }

func (i batchNow) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	return i.compareNow.do(m)
}

// A batching is the dialog of a batch while it runs, and its table afterwards.
type batching struct {
	files         batchFiles
	cancel        context.CancelFunc
	progress      atomic.Pointer[[2]int]
	seen          [2]int // what is drawn
	table         BatchTable
	failed        string
	ended         bool
	left          int // lines of the table above the first that is seen
	width, height int
}

// batchTickMsg lets the dialog look at the progress; batchedMsg brings the end.
type (
	batchTickMsg struct{ b *batching }
	batchedMsg   struct {
		b     *batching
		table BatchTable
		err   error
	}
)

// startBatch answers the prompts of a file in the place of a setup.
func (m *Model) startBatch(files batchFiles, variants []chat.Variant) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	b := &batching{files: files, cancel: cancel}
	m.CloseDialog()
	m.OpenDialog(b)
	work := func() tea.Msg {
		defer cancel()
		defer releaseModels(variants)
		table, err := m.options.Batch(ctx, Batch{Prompts: files.prompts, Out: files.out, Variants: variants, Progress: func(done, total int) {
			b.progress.Store(&[2]int{done, total})
		}})
		return batchedMsg{b, table, err}
	}
	return tea.Batch(work, m.after(progressEvery, batchTickMsg{b}))
}

func (msg batchTickMsg) take(m *Model) tea.Cmd {
	if p := msg.b.progress.Load(); p != nil {
		msg.b.seen = *p
	}
	m.measure() // no dialogue changes, and the engine is at work
	if msg.b.ended {
		return m.tick()
	}
	return m.after(progressEvery, msg)
}

func (msg batchedMsg) take(m *Model) tea.Cmd {
	b := msg.b
	b.ended, b.table = true, msg.table
	if p := b.progress.Load(); p != nil {
		b.seen = *p
	}
	if errors.Is(msg.err, context.Canceled) {
		return m.say(fmt.Sprintf("stopped after %d of %d prompts; the same goes on from there", b.seen[0], b.seen[1]))
	}
	if msg.err != nil {
		b.failed = kit.OneLine(msg.err.Error())
	}
	return nil
}

func (b *batching) Press(id keys.ID, _ string) kit.Action {
	switch id {
	case keys.ListUp:
		b.left = max(0, b.left-1)
	case keys.ListDown:
		b.left = max(0, min(b.left+1, len(b.table)-2))
	case keys.ListAccept:
		if b.ended {
			return kit.Close
		}
	case keys.ListCancel:
		b.cancel()
		return kit.Close
	}
	return nil
}

func (b *batching) Wheel(int, int, int) kit.Action { return nil }
func (b *batching) Click(int, int) kit.Action      { return nil }
func (b *batching) Resize(width, height int)       { b.width, b.height = width, height }

func (b *batching) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(kit.ChooserMost, b.width)
	title, verb := "Answering prompts", "stop"
	content := []string{}
	switch {
	case b.failed != "":
		title, verb = "The prompts were not answered", "close"
		content = kit.Wrap("✗ "+b.failed, inner)
	case b.ended:
		title, verb = kit.FormatCount(b.seen[1])+" prompts answered", "close"
		content = b.lines(th, inner)
	default:
		style := graph.Blocks
		if !th.Glyphs.Braille {
			style = graph.ASCII
		}
		share, said := 0.0, "reading the prompts"
		if b.seen[1] > 0 {
			share = float64(b.seen[0]) / float64(b.seen[1])
			said = fmt.Sprintf("%s of %s prompts", kit.FormatCount(b.seen[0]), kit.FormatCount(b.seen[1]))
		}
		content = append(content, th.Accent.Render(graph.Bar(share, inner, style)), said)
	}
	if b.failed == "" {
		for _, l := range kit.Wrap("Answers go to "+kit.OneLine(b.files.out), inner) {
			content = append(content, th.Muted.Render(l))
		}
	}
	return kit.Frame(th, title, content, kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), verb), inner, b.width, b.height)
}

// lines are the table's. On a narrow screen it has less columns.
func (b *batching) lines(th theme.Theme, width int) []string {
	const gap = 2
	text := func(row []string, wide []int) string {
		line := ""
		for i, w := range wide {
			line += kit.Pad(kit.Fit(row[i], w), w+gap)
		}
		return kit.Fit(strings.TrimRight(line, " "), width)
	}
	var wide []int
	room := width
	for i := range b.table[0] {
		w := 0
		for _, row := range b.table {
			w = max(w, ansi.StringWidth(kit.OneLine(row[i])))
		}
		if i == 0 {
			w = min(w, max(10, width/3))
		}
		if room -= w + gap; room < -gap {
			break
		}
		wide = append(wide, w)
	}
	lines := []string{th.Muted.Render(text(b.table[0], wide))}
	rows := max(1, b.height-8)
	for _, row := range b.table[1+b.left : min(len(b.table), 1+b.left+rows)] {
		lines = append(lines, text(row, wide))
	}
	return append(lines, "")
}

// batch answers a file of prompts without a screen, and reads the table out.
func (p *plain) batch(drafts []draft, file string) error {
	if p.options.Batch == nil {
		return errNoBatch
	}
	variants, err := prepared(p.ctx, p.workspace, drafts, p.saying())
	if err != nil {
		return err
	}
	defer releaseModels(variants)
	file = kit.ExpandHome(file)
	total := 0
	table, err := p.options.Batch(p.ctx, Batch{Prompts: file, Out: answersFile(file), Variants: variants, Progress: func(_, of int) { total = of }})
	if err != nil {
		return err
	}
	p.say(fmt.Sprintf("%s prompts are answered; the answers are in %s.", kit.FormatCount(total), answersFile(file)))
	for _, row := range table[1:] {
		var words []string
		for i, cell := range row[1:] {
			words = append(words, strings.ToLower(table[0][i+1])+" "+cell)
		}
		p.say(kit.OneLine(row[0]) + ": " + kit.OneLine(strings.Join(words, ", ")) + ".")
	}
	return nil
}

// HoldsWork says that a click beside does not close it.
func (b *batching) HoldsWork() bool { return true }
