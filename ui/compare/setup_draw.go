package compare

import (
	"fmt"
	"strings"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// What stands above the first variant and before each, in lines and cells.
const (
	setupHead   = 3
	setupNumber = 4
	setupWidth  = 150
	setupNarrow = 50 // cells of a table that has room for all columns
)

// columns are the widths of the table's. On a narrow screen it has the names
// and the column at hand; the others are 0 wide.
func (s *setup) columns() []int {
	const seed = 6
	rest := kit.InnerWidth(setupWidth, s.Width) - setupNumber - seed - (columnCount - 1)
	if rest < setupNarrow {
		w := make([]int, columnCount)
		all := rest + seed + columnCount - 1
		if w[nameColumn] = all; s.column != nameColumn {
			w[s.column] = all * 45 / 100
			w[nameColumn] = all - w[s.column] - 1
		}
		return w
	}
	w := []int{rest * 22 / 100, rest * 17 / 100, rest * 17 / 100, rest * 15 / 100, rest * 14 / 100, 0, seed}
	for _, taken := range w[:samplingColumn] {
		rest -= taken
	}
	w[samplingColumn] = rest
	return w
}

func (s *setup) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(setupWidth, s.Width)
	content := []string{s.promptLine(th, m, inner), "", s.head(th)}
	names := nameDrafts(s.drafts)
	for i := s.top(); i < s.top()+s.rows(); i++ {
		content = append(content, s.line(th, i, names[i].Name))
	}
	content = append(content, "")
	hint := func(id keys.ID) string { return m.Hint(keys.Setup, id) }
	lines := []string{
		kit.HintLine(th, inner, hint(keys.SetupEdit), "change", hint(keys.SetupDuplicate), "duplicate", hint(keys.SetupRemove), "remove",
			hint(keys.SetupName), "name", hint(keys.SetupBlind), map[bool]string{true: "blind: yes", false: "blind: no"}[s.blind]),
		th.Muted.Render("fill with ") + kit.HintLine(th, inner-len("fill with "), hint(keys.SetupModels), "models", hint(keys.SetupStates), "states", hint(keys.SetupAdapters), "adapters",
			hint(keys.SetupPresets), "presets", hint(keys.SetupSeeds), "seeds"),
	}
	for i, l := range s.notes() {
		if l = th.Accent.Render(l); i+1 < len(lines) {
			lines[i+1] = l
		} else {
			lines = append(lines, l)
		}
	}
	content = append(content, lines...)
	title := fmt.Sprintf("Compare %d variants", len(s.drafts))
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), "start", m.Hint(keys.List, keys.ListCancel), "close", "arrows", "cell", m.Hint(keys.Setup, keys.Help), "help")
	return kit.Frame(th, title, content, hints, inner, s.Width, s.Height)
}

// notes are what was said last, in a few lines that take the place of hints.
func (s *setup) notes() []string {
	const most = 3
	if s.said == "" {
		return nil
	}
	lines := kit.Wrap(s.said, kit.InnerWidth(setupWidth, s.Width))
	return lines[:min(len(lines), most)]
}

// promptLine says what is answered.
func (s *setup) promptLine(th theme.Theme, m keys.Map, width int) string {
	key := m.Hint(keys.Setup, keys.SetupPrompt)
	text := kit.OneLine(s.prompt)
	if text == "" {
		text = "none yet"
		if p, ok := lastPrompt(s.tab); ok {
			text = "the last one: " + kit.OneLine(p.Text)
		}
	}
	right := th.Key.Render(key) + " " + th.Muted.Render("writes one")
	return kit.Spread(kit.Fit("Prompt  "+text, max(8, width-len(key)-13)), right, width)
}

func (s *setup) head(th theme.Theme) string {
	cells := []string{"variant", "model", "state", "adapter", "mix", "sampling", "seed"}
	var seen []string
	for i, w := range s.columns() {
		if w > 0 {
			seen = append(seen, kit.Pad(cells[i], w))
		}
	}
	return th.Muted.Render(strings.Repeat(" ", setupNumber) + strings.Join(seen, " "))
}

// line is a variant. name is the one that it has or gets.
func (s *setup) line(th theme.Theme, i int, name string) string {
	d := &s.drafts[i]
	seed := "next"
	if d.Sampling.Seed != 0 {
		seed = fmt.Sprint(d.Sampling.Seed)
	}
	mix := "none"
	if d.Mix.Active() {
		mix = d.Mix.String()
	}
	model := "own"
	if d.ofOtherModel() {
		model = kit.OneLine(d.File.Name)
	}
	cells := []string{name, model, kit.OneLineOr(d.Base.Name, "none"), kit.OneLineOr(d.Adapter.Name, "none"), mix, d.samplingName(), seed}
	line := fmt.Sprintf("  %d ", i+1)
	if i == s.row {
		line = th.Accent.Render(th.Glyphs.Cursor) + line[1:]
	}
	for c, w := range s.columns() {
		if w == 0 {
			continue
		}
		cell := kit.Pad(cells[c], w)
		switch {
		case i == s.row && c == s.column:
			cell = th.Chosen.Underline(true).Render(cell)
		case c == nameColumn && d.Name == "":
			cell = th.Muted.Render(cell)
		}
		line += cell + " "
	}
	return line[:len(line)-1]
}
