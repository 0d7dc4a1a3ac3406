package main

import (
	"strings"
	"sync/atomic"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/infer"
	"rookery/infer/scripted"
)

// Where models have different tokenizers, the table shows the byte where answers begin
// to differ.
func TestTableOfDifferences(t *testing.T) {
	b := &comparison{contestants: []contestant{{spec: variantSpec{Name: "one"}}, {spec: variantSpec{Name: "two"}}, {spec: variantSpec{Name: "three"}}}}
	var results []comparedJSON
	for n := range 3 {
		results = append(results, comparedJSON{Answers: []comparedAnswer{
			{Variant: "one"},
			{Variant: "two", Difference: &differenceJSON{Token: n + 1, Byte: 10 * n}},
			{Variant: "three", Difference: &differenceJSON{Token: -1, Byte: 7 + n}},
		}})
	}
	cells := tableCells(b.summarizeResults(results), false)
	for i, want := range []string{"DIFFERS AT", "-", "token 2", "byte 8"} {
		if got := cells[i][5]; got != want {
			t.Errorf("row %d says %q, want %q", i, got, want)
		}
	}
}

// No more answers run at once than were asked for.
func TestRowsAtOnce(t *testing.T) {
	const rows = 4
	var most atomic.Int64
	m := scripted.Model()
	e := infer.NewEngine(m, scripted.New(m, scripted.Options{Before: func(step []infer.Row) error {
		most.Store(max(most.Load(), int64(len(step))))
		return nil
	}}), infer.Options{})
	workspace := chat.NewWorkspace(e, memstore.New(), chat.Defaults{MaxTokens: 20})
	defer func() {
		if err := workspace.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	b := &comparison{reference: -1, samples: 2, rows: rows}
	b.addContestant(contestant{variantSpec{Name: "own"}, chat.Variant{Name: "own"}, workspace})
	prompts, err := readPrompts(strings.NewReader(strings.Repeat("hello\n", 30)), "prompts")
	if err != nil {
		t.Fatal(err)
	}
	line := 0
	err = b.answerAll(t.Context(), prompts, func(r comparedJSON) error {
		if line++; r.Line != line || len(r.Answers) != 2 {
			t.Errorf("line %d has %d answers, want those of line %d", r.Line, len(r.Answers), line)
		}
		return nil
	})
	if err != nil || line != len(prompts) || most.Load() > rows || most.Load() == 0 {
		t.Errorf("%d lines, and %d rows at once of %d (%v)", line, most.Load(), rows, err)
	}
	o := compareOptions{rows: 2}
	if n := o.slotCount([]variantSpec{{}, {Mix: "own=1,a=0.5,b=1"}}); n < 3 {
		t.Errorf("%d slots for a mix of three states", n)
	}
}
