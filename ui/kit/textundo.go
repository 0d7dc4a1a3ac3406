package kit

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// changesKept is how many changes of a text can be taken back.
const changesKept = 500

// A change is lines that others took the place of.
type change struct {
	first  int      // the line where they stand
	old    []string // what stood there
	fresh  int      // how many lines stand there now
	cursor position // before
	run    run
}

// A run is changes that are taken back as one: what was typed of a word, or
// characters that were deleted one by one.
type run uint8

const (
	noRun run = iota
	typing
	deleting
)

// changes are what was done to a text, and what of it was taken back.
type changes struct {
	undo, redo []change
	after      position // the cursor behind the last one
	run        run      // of the change that comes
	begins     bool     // the change that comes begins a run
}

// note remembers that lines from first up to end give way to some fresh ones.
func (a *TextArea) note(first, end, fresh int) {
	c := change{first: first, fresh: fresh, cursor: a.cursor(), run: a.changes.run}
	begins := a.changes.begins
	a.changes.run, a.changes.begins, a.changes.redo = noRun, false, nil
	if n := len(a.changes.undo); n > 0 && c.run != noRun && !begins && end-first == 1 && fresh == 1 {
		if last := a.changes.undo[n-1]; last.run == c.run && last.first == first && last.fresh == 1 && c.cursor == a.changes.after {
			return // of the same run
		}
	}
	c.old = texts(a.lines[first:end])
	a.changes.undo = append(a.changes.undo, c)
	if over := len(a.changes.undo) - changesKept; over > 0 {
		a.changes.undo = slices.Delete(a.changes.undo, 0, over)
	}
}

func texts(lines []TextLine) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = l.text
	}
	return all
}

// noteTyped says what run an insertion belongs to: that of a word and the space
// behind it.
func (a *TextArea) noteTyped(text string) {
	r, size := utf8.DecodeRuneInString(text)
	if size < len(text) || r == '\n' {
		return
	}
	before, _ := utf8.DecodeLastRuneInString(a.Before())
	a.changes.run, a.changes.begins = typing, !unicode.IsSpace(r) && unicode.IsSpace(before)
}

// Undo takes the last change back. It reports false if there is none.
func (a *TextArea) Undo() bool { return a.turnBack(&a.changes.undo, &a.changes.redo) }

// Redo makes the change again that was taken back last. It reports false if there
// is none.
func (a *TextArea) Redo() bool { return a.turnBack(&a.changes.redo, &a.changes.undo) }

// turnBack takes back the last change of a list, and puts its opposite on another.
func (a *TextArea) turnBack(from, to *[]change) bool {
	n := len(*from) - 1
	if n < 0 {
		return false
	}
	c := (*from)[n]
	*from = (*from)[:n]
	*to = append(*to, change{first: c.first, old: texts(a.lines[c.first : c.first+c.fresh]), fresh: len(c.old), cursor: a.cursor()})
	lines := make([]TextLine, len(c.old))
	for i, text := range c.old {
		lines[i] = NewTextLine(text, a.width)
	}
	a.put(c.first, c.first+c.fresh, lines)
	a.row, a.col, a.goal = c.cursor.row, c.cursor.col, -1
	return true
}

// ForgetUndone drops what was taken back.
func (a *TextArea) ForgetUndone() { a.changes.redo = nil }

// ForgetChanges leaves nothing that could be taken back.
func (a *TextArea) ForgetChanges() { a.changes = changes{} }
