package ui

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A setup is the table of what is compared: a row for each variant.
type setup struct {
	tab      *tab
	presets  []prompt.Preset
	first    remembered // what it began with
	prompt   string     // "" for the last one
	written  bool       // it is in the composer, and taken from there
	drafts   []draft
	blind    bool
	states   []turn.State // to choose from, when they have come
	adapters []turn.RegisteredAdapter
	models   []ModelFile
	loaded   bool       // they have come
	next     kit.Action // what waits for them

	row, column   int
	said          string
	busy          bool                   // it is about to begin
	cancel        context.CancelFunc     // of loading; nil: nothing is loaded
	loading       atomic.Pointer[string] // how far it is
	width, height int
}

// remembered is what the next setup begins with.
type remembered struct {
	drafts []draft
	blind  bool
}

// The columns of the table.
const (
	nameColumn = iota
	modelColumn
	baseColumn
	adapterColumn
	mixColumn
	samplingColumn
	seedColumn
	columnCount
)

// newSetup begins with what was compared last, or with the conversation's own
// way beside the bare model or another seed.
func newSetup(m *Model, t *tab) *setup {
	s := &setup{tab: t, presets: m.presets(), column: baseColumn}
	if last := m.compared; len(last.drafts) > 0 {
		s.drafts, s.blind = slices.Clone(last.drafts), last.blind
		s.first = s.remembered()
		return s
	}
	own := draft{Variant: t.d.Variant(), model: m.ownModel()}
	own.preset = presetOf(s.presets, own.Sampling)
	other := own
	if own.Base.ID != 0 {
		own.Sampling.Seed, other.Sampling.Seed = 0, 0
		other.Base = turn.State{}
	} else {
		own.Sampling.Seed = max(1, own.Sampling.Seed)
		other.Sampling.Seed = own.Sampling.Seed + 1
	}
	s.drafts = []draft{own, other}
	s.first = s.remembered()
	return s
}

func (s *setup) remembered() remembered { return remembered{slices.Clone(s.drafts), s.blind} }

func (s *setup) variants() []chat.Variant { return namedVariants(s.drafts) }

// Context is where the setup's own keys are active.
func (s *setup) Context() keys.Context { return keys.Setup }

// HelpPart is where the help is about comparisons.
func (s *setup) HelpPart() string { return string(keys.Comparison) }

// HoldsWork says that a click beside does not close it.
func (s *setup) HoldsWork() bool { return true }

func (s *setup) Press(id keys.ID, text string) kit.Action {
	s.said, s.next = "", nil
	switch id {
	case keys.ListCancel:
		return closeSetup{s}.do
	case keys.ListAccept:
		return compareNow{s: s}.do
	case keys.ListUp:
		s.row = max(0, s.row-1)
	case keys.ListDown:
		s.row = min(len(s.drafts)-1, s.row+1)
	case keys.CharLeft:
		s.column = max(0, s.column-1)
	case keys.CharRight, keys.ListView:
		s.column = (s.column + 1) % columnCount
	case keys.SetupDuplicate:
		s.duplicate()
	case keys.SetupRemove:
		s.remove()
	case keys.SetupBlind:
		s.blind = !s.blind
	case keys.SetupEdit:
		return editCell{s, s.column}.do
	case keys.SetupName:
		return editCell{s, nameColumn}.do
	case keys.SetupPrompt:
		return askPrompt{s}.do
	case keys.SetupBatch:
		return askBatch{s}.do
	case keys.Help:
		return showHelp{}.do
	case keys.SetupModels, keys.SetupStates, keys.SetupAdapters, keys.SetupPresets, keys.SetupSeeds:
		return fillSetup{s, id}.do
	}
	return nil
}

// closeSetup ends a setup without a comparison.
type closeSetup struct{ s *setup }

func (i closeSetup) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	if i.s.cancel != nil {
		i.s.cancel()
	}
	m.CloseDialog()
	if now := i.s.remembered(); !reflect.DeepEqual(now, i.s.first) {
		m.compared = now // closed to look something up, perhaps
	}
	i.s.leavePrompt(m)
	return nil
}

// leavePrompt puts a prompt that is nowhere else into the composer.
func (s *setup) leavePrompt(m *Model) {
	c := s.tab.composer
	if s.prompt != "" && (c.Empty() || s.written && s.prompt != c.Text()) && !c.Editing() {
		c.Fill(s.prompt)
		m.edited()
	}
}

func (s *setup) duplicate() {
	if len(s.drafts) >= chat.MaxCompare {
		s.said = fmt.Sprintf("%d variants at most.", chat.MaxCompare)
		return
	}
	twin := s.drafts[s.row]
	twin.Name = ""
	s.drafts = slices.Insert(s.drafts, s.row+1, twin)
	s.row++
}

func (s *setup) remove() {
	if len(s.drafts) <= chat.MinCompare {
		s.said = fmt.Sprintf("%d variants at least.", chat.MinCompare)
		return
	}
	s.drafts = slices.Delete(s.drafts, s.row, s.row+1)
	s.row = min(s.row, len(s.drafts)-1)
}

// fill replaces all variants by the selected one, changed in several ways.
func (s *setup) fill(n int, change func(d *draft, i int)) {
	if n < chat.MinCompare || n > chat.MaxCompare {
		s.said = fmt.Sprintf("Mark %d to %d; the table stays as it is.", chat.MinCompare, chat.MaxCompare)
		return
	}
	from := s.drafts[s.row]
	from.Name = ""
	s.drafts = make([]draft, n)
	for i := range s.drafts {
		s.drafts[i] = from
		change(&s.drafts[i], i)
	}
	s.row = 0
}

func (s *setup) Wheel(by, _, _ int) kit.Action {
	s.row = clamp(s.row+by, 0, len(s.drafts)-1)
	return nil
}

// Click selects a cell, and changes the one that is selected.
func (s *setup) Click(x, y int) kit.Action {
	row, seen := s.top()+y-1-setupHead, s.rows()
	switch {
	case y == 1:
		return askPrompt{s}.do
	case y <= setupHead || y > setupHead+seen:
		return nil
	}
	column, at := 0, x-2-setupNumber
	for i, w := range s.columns() {
		if w == 0 {
			continue
		}
		if at >= 0 {
			column = i
		}
		at -= w + 1
	}
	if row == s.row && column == s.column {
		return editCell{s, column}.do
	}
	s.row, s.column = row, column
	return nil
}

// rows is how many variants are seen, top the first of them.
func (s *setup) rows() int {
	return max(1, min(len(s.drafts), s.height-setupHead-5-max(0, len(s.notes())-1)))
}
func (s *setup) top() int { return clamp(s.row-s.rows()/2, 0, len(s.drafts)-s.rows()) }

func (s *setup) Resize(width, height int) { s.width, s.height = width, height }
