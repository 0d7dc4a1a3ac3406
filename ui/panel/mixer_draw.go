package panel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
)

// The line of a slider is a mark, the name, the weight, the share and the bar.
const (
	weightWidth = 7
	shareWidth  = 6
	leastSlider = 6 // narrowest bar
	// The bar reaches from scaleLow to scaleHigh, with a mark at zero.
	scaleLow, scaleHigh = -1.0, 2.0
)

// Draw shows a line for each slider, and below what the mix costs and the keys.
func (m *Mixer) Draw() string {
	help := m.help()
	if room := m.height - 2; len(help) > room {
		help = help[:max(0, room)]
	}
	var rows []string
	if m.mix.Active() {
		from, n := m.window(m.height - len(help))
		for i := from; i < from+n; i++ {
			rows = append(rows, m.drawMember(i))
		}
		m.mark(rows, from)
	} else {
		for _, text := range []string{
			"No mix. Every state of a mix reads the conversation, and each token is drawn from all of them, weighted.",
			"", m.th.Key.Render("a") + " adds a state, " + m.th.Key.Render("p") + " takes a saved mix.",
		} {
			rows = append(rows, strings.Split(ansi.Wrap(text, max(1, m.width), ""), "\n")...)
		}
	}
	for len(rows) < m.height-len(help) {
		rows = append(rows, "")
	}
	return m.fill(append(rows, help...))
}

// window is the sliders that a number of lines shows.
func (m *Mixer) window(room int) (from, n int) {
	all := m.last() + 1
	n = min(all, max(0, room))
	return min(max(0, m.at-n/2), all-n), n
}

// mark says where there are more sliders.
func (m *Mixer) mark(rows []string, from int) {
	put := func(i int, glyph string) {
		if from+i != m.at {
			rows[i] = m.th.Muted.Render(glyph) + ansi.Cut(rows[i], 1, math.MaxInt32)
		}
	}
	if len(rows) > 0 && from > 0 {
		put(0, m.th.Glyphs.Up)
	}
	if len(rows) > 0 && from+len(rows) <= m.last() {
		put(len(rows)-1, m.th.Glyphs.Down)
	}
}

// sliderAt is the slider on a line of the panel.
func (m *Mixer) sliderAt(y int) (int, bool) {
	if !m.mix.Active() {
		return 0, false
	}
	from, n := m.window(m.height - min(len(m.help()), max(0, m.height-2)))
	return from + y, y >= 0 && y < n
}

// nameWidth is what names get of a line.
func (m *Mixer) nameWidth() int {
	longest := 0
	for i, f := range m.mix.Members() {
		longest = max(longest, ansi.StringWidth(memberName(i, f)))
	}
	return min(longest, max(6, m.width-2-2-weightWidth-shareWidth-12))
}

// barPlace is where bars are; a width of 0 is none.
func (m *Mixer) barPlace() (x, width int) {
	x = 2 + m.nameWidth() + 3 + weightWidth + shareWidth + 1
	if width = m.width - x; width < leastSlider || !m.drawsGraphs() {
		return x, 0
	}
	return x, width
}

// weightAt is the weight under a cell of the bars.
func (m *Mixer) weightAt(x int) float32 {
	at, width := m.barPlace()
	v := scaleLow + (scaleHigh-scaleLow)*(float64(x-at)+0.5)/float64(max(1, width))
	v = math.Round(v/fineStep) * fineStep
	return rounded(min(max(v, scaleLow), scaleHigh))
}

// memberName is what a slider is called.
func memberName(i int, f turn.MixMember) string {
	if i == 0 {
		return "this chat"
	}
	return clean(f.Name)
}

func (m *Mixer) drawMember(i int) string {
	f := m.mix.Members()[i]
	name := fit(memberName(i, f), m.nameWidth(), m.th.Glyphs.Ellipsis)
	value := weightText(f.Weight)
	if i == m.at && m.typing {
		value = m.typed + "_"
	}
	line := name + " " + silenced(f) + " " + atRight(value, weightWidth) + atRight(m.share(i), shareWidth)
	if i == m.at {
		line = m.th.Chosen.Render(m.th.Glyphs.Cursor + " " + line)
	} else {
		line = "  " + line
	}
	if _, width := m.barPlace(); width > 0 {
		line += " " + m.bar(i, width)
	}
	return line
}

// atRight puts a figure at the right end of some cells.
func atRight(s string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}

// silenced is the letter of a slider that is muted or solo.
func silenced(f turn.MixMember) string {
	switch {
	case f.Mute:
		return "M"
	case f.Solo:
		return "S"
	}
	return " "
}

// weightText writes a weight with two digits or as many as it needs.
func weightText(w float32) string {
	v := float64(w)
	return strconv.FormatFloat(v, 'f', max(2, decimals(v)), 64)
}

// share is how much of the combined logits a slider has.
func (m *Mixer) share(i int) string {
	weights, sum := m.mix.Weights(), float32(0)
	for _, w := range weights {
		sum += w
	}
	if sum <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*weights[i]/sum)
}

// bar draws a weight on a scale with a mark at zero; what is silent is faint,
// and what is negative goes to the left of the mark with another sign.
func (m *Mixer) bar(i, width int) string {
	f, counts := m.mix.Members()[i], m.mix.Weights()[i]
	place := func(v float64) int {
		return min(max(int(math.Floor((v-scaleLow)/(scaleHigh-scaleLow)*float64(width))), 0), width-1)
	}
	zero, at := place(0), place(float64(f.Weight))
	full, against, track, end := "█", "▒", "·", "│"
	if !m.th.Glyphs.Braille {
		full, against, track, end = "#", "-", ".", "|"
	}
	ink := m.th.Graph1
	if f.Weight < 0 {
		full, ink = against, m.th.Graph3
	}
	if counts == 0 {
		ink = m.th.Muted
	}
	from, to := min(zero, at), max(zero, at)
	if f.Weight == 0 {
		return m.th.Muted.Render(strings.Repeat(track, zero) + end + strings.Repeat(track, width-zero-1))
	}
	return m.th.Muted.Render(strings.Repeat(track, from)) + ink.Render(strings.Repeat(full, to-from+1)) + m.th.Muted.Render(strings.Repeat(track, width-to-1))
}

// help says what was refused, what the mix costs, and which keys there are.
func (m *Mixer) help() []string {
	var lines []string
	add := func(text string, render func(...string) string) {
		for _, l := range strings.Split(ansi.Wrap(text, max(1, m.width), ""), "\n") {
			lines = append(lines, render(l))
		}
	}
	add("", m.th.Text.Render)
	if m.wrong != "" {
		add(m.wrong, m.th.Error.Render)
	}
	if m.mix.Active() {
		add(m.cost(), m.th.Text.Render)
	}
	for _, l := range m.keyHints() {
		lines = append(lines, m.th.Muted.Render(l))
	}
	return lines
}

// cost is what the mix takes: rows of every step, and what is read again.
func (m *Mixer) cost() string {
	text := plural(m.last()+1, "row") + " a step"
	if m.playing {
		text += "; the running answer keeps the states it began with"
	}
	if m.again > 0 {
		text += "; the next answer reads " + plural(m.again, "token") + " again with all of them"
	}
	return text + "."
}

// keyHints are the keys, in as many lines as they need.
func (m *Mixer) keyHints() []string {
	separator, arrows := " · ", "←→"
	if !m.th.Glyphs.Braille {
		separator, arrows = ", ", "left/right"
	}
	if m.typing {
		return []string{"enter takes it, esc does not"}
	}
	keys := []string{"a add", "p saved mixes"}
	if m.mix.Active() {
		keys = []string{arrows + " weight", "shift more", "m mute", "s solo", "0 zero", "a add", "x remove", "p saved mixes", "w save", "o off"}
	}
	lines := []string{keys[0]}
	for _, k := range keys[1:] {
		if next := lines[len(lines)-1] + separator + k; ansi.StringWidth(next) <= m.width {
			lines[len(lines)-1] = next
		} else {
			lines = append(lines, k)
		}
	}
	return lines
}
