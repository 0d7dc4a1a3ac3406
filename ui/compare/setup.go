package compare

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
	kit.Window
	variants
	room    *room
	tab     kit.Tab
	presets []prompt.Preset
	first   variants // what it began with
	prompt  string   // "" for the last one
	written bool     // it is in the composer, and taken from there
	choices
	loaded bool       // the choices have come
	next   kit.Action // what waits for them

	row, column int
	said        string
	busy        bool                   // it is about to begin
	cancel      context.CancelFunc     // of loading; nil: nothing is loaded
	loading     atomic.Pointer[string] // how far it is
}

// variants are the rows of a setup, and what the next one begins with.
type variants struct {
	drafts []Draft
	blind  bool // their names are hidden until the vote
}

func (v variants) clone() variants { return variants{slices.Clone(v.drafts), v.blind} }

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

// newSetup begins with what was compared last, or with two variants: how the
// conversation answers, and the bare model or another seed.
func newSetup(r *room, h kit.Host) *setup {
	s := &setup{room: r, tab: h.Tab(), presets: h.Presets(), column: baseColumn}
	if len(r.last.drafts) > 0 {
		s.variants = r.last.clone()
		s.first = r.last.clone()
		return s
	}
	own := OwnDraft(s.tab.Dialogue(), h.Model(), s.presets)
	other := own
	if own.Base.ID != 0 {
		own.Sampling.Seed, other.Sampling.Seed = 0, 0
		other.Base = turn.State{}
	} else {
		own.Sampling.Seed = max(1, own.Sampling.Seed)
		other.Sampling.Seed = own.Sampling.Seed + 1
	}
	s.drafts = []Draft{own, other}
	s.first = s.clone()
	return s
}

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
		return s.close
	case keys.ListAccept:
		return s.begin(false)
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
		return s.editCell(s.column)
	case keys.SetupName:
		return s.editCell(nameColumn)
	case keys.SetupPrompt:
		return s.askPrompt
	case keys.Help:
		return showHelp
	case keys.SetupModels, keys.SetupStates, keys.SetupAdapters, keys.SetupPresets, keys.SetupSeeds:
		return s.askValues(id)
	}
	return nil
}

func showHelp(h kit.Host) tea.Cmd { return h.Run(keys.Help, "") }

// close ends the setup without a comparison. A prompt that is nowhere else goes
// into the composer.
func (s *setup) close(h kit.Host) tea.Cmd {
	if s.cancel != nil {
		s.cancel()
	}
	h.CloseDialog()
	if !reflect.DeepEqual(s.variants, s.first) {
		s.room.last = s.clone() // closed to look something up, perhaps
	}
	c := s.tab.Prompt()
	if s.prompt != "" && (c.Text() == "" || s.written && s.prompt != c.Text()) && !c.Editing() {
		c.Fill(s.prompt)
	}
	return nil
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

func (s *setup) Wheel(by, _, _ int) kit.Action {
	s.row = clamp(s.row+by, 0, len(s.drafts)-1)
	return nil
}

// Click selects a cell, and changes the one that is selected.
func (s *setup) Click(x, y int) kit.Action {
	row, seen := s.top()+y-1-setupHead, s.rows()
	switch {
	case y == 1:
		return s.askPrompt
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
		return s.editCell(column)
	}
	s.row, s.column = row, column
	return nil
}

// rows is how many variants are seen, top the first of them.
func (s *setup) rows() int {
	return max(1, min(len(s.drafts), s.Height-setupHead-5-max(0, len(s.notes())-1)))
}
func (s *setup) top() int { return clamp(s.row-s.rows()/2, 0, len(s.drafts)-s.rows()) }
