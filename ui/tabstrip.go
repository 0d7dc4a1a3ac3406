package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A tabStrip is the top line: one label for each tab, as many as fit around
// the active one.
type tabStrip struct {
	line  string
	spots []spot
}

// A spot is where a tab's label is; tab -1 opens a new one.
type spot struct{ from, to, tab int }

// titleWidths are tried one after the other until all labels fit. The last
// leaves a title to the active tab alone: what the others do matters more than
// what they are called.
var titleWidths = []int{40, 30, 24, 18, 12, 6, 0}

// activeTitle is the least width of the active tab's title.
const activeTitle = 6

// drawTabs makes the strip.
func drawTabs(tabs []*tab, active int, th theme.Theme, spin string, width int) tabStrip {
	var labels []string
	first, last := 0, len(tabs)-1
	bar := ""
	for _, w := range titleWidths {
		if bar = th.Muted.Render(th.Glyphs.Vertical); w == 0 {
			bar = "" // labels begin with a space
		}
		labels = labels[:0]
		total := len(" + ") - 1
		for i, t := range tabs {
			labels = append(labels, tabLabel(t, i, active, spin, w))
			total += ansi.StringWidth(labels[i] + bar)
		}
		if first, last = 0, len(tabs)-1; total <= width {
			break
		}
		first, last = window(labels, active, width-len("‹99⠋ 99⠋› + "))
	}
	var s tabStrip
	var b strings.Builder
	x := 0
	put := func(text string, tab int) {
		b.WriteString(text)
		w := ansi.StringWidth(text)
		if tab != noTab {
			s.spots = append(s.spots, spot{x, x + w, tab})
		}
		x += w
	}
	if first > 0 {
		put(th.Muted.Render(fmt.Sprintf("‹%d%s ", first, news(tabs[:first], spin))), first-1)
	}
	for i := first; i <= last; i++ {
		style := th.Tab
		if i == active {
			style = th.TabActive
		}
		put(style.Render(labels[i]), i)
		if i < last {
			put(bar, noTab)
		}
	}
	if rest := len(tabs) - 1 - last; rest > 0 {
		put(th.Muted.Render(fmt.Sprintf(" %d%s›", rest, news(tabs[last+1:], spin))), last+1)
	}
	put(th.Muted.Render(" + "), newTabSpot)
	s.line = kit.Fit(b.String(), width)
	return s
}

const (
	noTab      = -2
	newTabSpot = -1
)

// tabLabel is " 1 Title ⠹ 42/s ", or " 1⠹42/s" without a title.
func tabLabel(t *tab, i, active int, spin string, titleWidth int) string {
	if i == active {
		titleWidth = max(titleWidth, activeTitle)
	}
	mark := ""
	switch {
	case t.generating() && t.view.Live.Progress.Rate > 0:
		mark = speed(t.view.Live.Progress.Rate, titleWidth) + "/s"
		if titleWidth > 0 {
			mark = " " + mark
		}
		mark = spin + mark
	case t.generating():
		mark = spin
	case t.view.Err != nil:
		mark = "!"
	case t.unread && i != active:
		mark = "●"
	}
	if titleWidth == 0 {
		return fmt.Sprintf(" %d%s", i+1, mark)
	}
	label := " " + kit.Fit(t.title(), titleWidth) + " "
	if i < 9 {
		label = fmt.Sprintf(" %d%s", i+1, label)
	}
	if mark != "" {
		label += mark + " "
	}
	return label
}

// speed is a rate as precise as there is room for.
func speed(r float64, titleWidth int) string {
	if titleWidth < 12 && r >= 10 {
		return kit.FormatCount(int(r + 0.5))
	}
	return kit.FormatRate(r)
}

// news is the mark of tabs that there is no room for: one of them is
// generating, or has something unread.
func news(tabs []*tab, spin string) string {
	mark := ""
	for _, t := range tabs {
		switch {
		case t.generating():
			return spin
		case t.unread:
			mark = "●"
		}
	}
	return mark
}

// window is the range of labels that fit into width with the active one among them.
func window(labels []string, active, width int) (first, last int) {
	first, last = active, active
	used := ansi.StringWidth(labels[active])
	for {
		grown := false
		if last+1 < len(labels) {
			if w := ansi.StringWidth(labels[last+1]) + 1; used+w <= width {
				last, used, grown = last+1, used+w, true
			}
		}
		if first > 0 {
			if w := ansi.StringWidth(labels[first-1]) + 1; used+w <= width {
				first, used, grown = first-1, used+w, true
			}
		}
		if !grown {
			return first, last
		}
	}
}

// hit is the tab under a cell of the strip.
func (s tabStrip) hit(x int) (tab int, ok bool) {
	for _, spot := range s.spots {
		if x >= spot.from && x < spot.to {
			return spot.tab, true
		}
	}
	return 0, false
}
