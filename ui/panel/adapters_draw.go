package panel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/ui/graph"
)

// A line of the panel is a mark, the name, the strength and its slider.
const (
	strengthWidth = 5
	strengthBar   = 10
)

// Draw shows a line for each adapter, and below what the chosen one is.
func (p *Adapters) Draw() string {
	from, n := p.window()
	var rows []string
	for i := from; i < from+n; i++ {
		rows = append(rows, p.drawLine(i))
	}
	for i := range rows {
		if i == 0 && from > 0 || i == n-1 && from+n <= len(p.families) {
			glyph := p.th.Glyphs.Up
			if i > 0 {
				glyph = p.th.Glyphs.Down
			}
			if from+i != p.at {
				rows[i] = p.th.Muted.Render(glyph) + ansi.Cut(rows[i], 1, max(1, ansi.StringWidth(rows[i])))
			}
		}
	}
	return p.fill(append(rows, p.about(p.height-n)...))
}

// window is the lines that there is room for.
func (p *Adapters) window() (from, n int) {
	all := len(p.families) + 1
	n = max(min(all, p.height-len(p.about(max(0, p.height-3)))), min(all, 1))
	return min(max(0, p.at-n/2), all-n), n
}

// barPlace is where sliders are; a width of 0 is none.
func (p *Adapters) barPlace() (x, width int) {
	if p.width < 34 || !p.drawsGraphs() {
		return p.width, 0
	}
	return p.width - strengthBar, strengthBar
}

func (p *Adapters) drawLine(i int) string {
	x, width := p.barPlace()
	if width > 0 {
		x--
	}
	mark, name, value, bar := " ", "none", "", ""
	used := p.inUse == "" && p.chosen == ""
	if i > 0 {
		f := p.families[i-1]
		used = p.used(f)
		name, value = clean(f[0].Name), fmt.Sprintf("%.2f", p.strength(f))
		if width > 0 {
			style := graph.Blocks
			if !p.th.Glyphs.Braille {
				style = graph.ASCII
			}
			ink := p.th.Graph1
			if !used {
				ink = p.th.Muted
			}
			bar = " " + ink.Render(graph.Bar(float64(p.strength(f))/strongest, width, style))
		}
	}
	if used {
		mark = "*"
	}
	room := max(1, x-3-strengthWidth)
	line := mark + " " + fit(name, room-1, p.th.Glyphs.Ellipsis) + atRight(value, strengthWidth)
	if i == p.at {
		return p.th.Chosen.Render(p.th.Glyphs.Cursor+line) + bar
	}
	return " " + line + bar
}

// about says what the chosen line is, in so many lines at most; the keys come
// last.
func (p *Adapters) about(room int) []string {
	var lines []string
	add := func(text string, render func(...string) string) {
		for _, l := range strings.Split(ansi.Wrap(text, max(1, p.width), ""), "\n") {
			lines = append(lines, render(l))
		}
	}
	add("", p.th.Text.Render)
	switch {
	case p.problem != nil:
		add(clean(p.problem.Error()), p.th.Error.Render)
	case !p.known:
		add("Looking for adapters"+p.th.Glyphs.Ellipsis, p.th.Muted.Render)
	case p.inUse != "" && !slices.ContainsFunc(p.families, p.used):
		add("The conversation uses "+clean(p.name)+", which is not known here.", p.th.Error.Render)
	case len(p.families) == 0:
		add("No adapters are known. a loads one from a file.", p.th.Text.Render)
	}
	if j := p.jobs.running; j != nil && j.doing != "" {
		add(clean(j.doing)+p.th.Glyphs.Ellipsis, p.th.Accent.Render)
	}
	if f := p.family(); f != nil {
		for _, text := range p.facts(f) {
			add(text, p.th.Text.Render)
		}
	} else if p.known && p.problem == nil {
		add("The model as it is.", p.th.Text.Render)
	}
	hints := p.hints()
	if over := len(lines) + len(hints) - room; over > 0 {
		hints = hints[:max(0, len(hints)-over)]
	}
	for _, l := range hints {
		lines = append(lines, p.th.Muted.Render(l))
	}
	return lines[:min(len(lines), max(0, room))]
}

// facts are what there is to say of an adapter.
func (p *Adapters) facts(f []turn.RegisteredAdapter) []string {
	var out []string
	all := loaded(f)
	if len(all) > 0 {
		l := all[0]
		what := l.Kinds()
		if l.Rank() > 0 {
			what += fmt.Sprintf(", rank %d", l.Rank())
		}
		if l.Scaled() {
			what += fmt.Sprintf(", scale %.3g", l.Scale()/p.scaledBy(f, l.Fingerprint))
		}
		out = append(out, what+"; "+targets(l.Targets())+".")
	}
	place := "Comes with the model."
	if f[0].Path != "" {
		place = "From " + clean(f[0].Path) + "."
	}
	out = append(out, place)
	if len(all) == 0 {
		return append(out, "Not in memory; it is loaded when it is used.")
	}
	memory, rows := int64(0), 0
	for _, l := range all {
		memory, rows = memory+l.Bytes, rows+l.Rows
	}
	out = append(out, fmt.Sprintf("%s of memory, %s now.", size(memory), plural(rows, "answer")))
	if all[0].Merged {
		return append(out, "Merged: weights of its own; m puts it beside the model's again.")
	}
	if n := p.mergedBytes(f); n > 0 {
		out = append(out, fmt.Sprintf("m merges it: faster where most rows use it, takes %s more.", size(n)))
	}
	return out
}

// scaledBy is the strength that a loaded adapter's scale has in it.
func (p *Adapters) scaledBy(f []turn.RegisteredAdapter, fingerprint string) float32 {
	for _, a := range f {
		if a.Fingerprint == fingerprint {
			return a.Strength()
		}
	}
	return 1
}

// mergedBytes is about what weights of its own would take.
func (p *Adapters) mergedBytes(f []turn.RegisteredAdapter) int64 {
	l := loaded(f)[0]
	return int64(float64(p.weights) * float64(l.Touched()) / float64(max(1, l.Shape.Params())))
}

// targets names products in few words.
func targets(names []string) string {
	var att, ffn, rest []string
	for _, n := range names {
		switch kind, part, ok := strings.Cut(n, "."); {
		case ok && kind == "att":
			att = append(att, part)
		case ok && kind == "ffn":
			ffn = append(ffn, part)
		default:
			rest = append(rest, n)
		}
	}
	var out []string
	if len(att) > 0 {
		out = append(out, "att "+strings.Join(att, ", "))
	}
	if len(ffn) > 0 {
		out = append(out, "ffn "+strings.Join(ffn, ", "))
	}
	if len(out)+len(rest) == 0 {
		return "replaced tensors alone"
	}
	return strings.Join(append(out, rest...), "; ")
}

// hints are the keys, in as many lines as they need.
func (p *Adapters) hints() []string {
	separator, arrows := " · ", "←→"
	if !p.th.Glyphs.Braille {
		separator, arrows = ", ", "left/right"
	}
	keys := []string{"enter use", "a load a file"}
	if p.family() != nil {
		keys = []string{"enter use", arrows + " strength", "shift more", "0 off", "1 full", "m merge", "d drop", "x forget", "a load a file"}
	}
	lines := []string{keys[0]}
	for _, k := range keys[1:] {
		if next := lines[len(lines)-1] + separator + k; ansi.StringWidth(next) <= p.width {
			lines[len(lines)-1] = next
		} else {
			lines = append(lines, k)
		}
	}
	return lines
}
