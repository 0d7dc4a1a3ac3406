package ui

import (
	"bytes"
	"testing"

	"rookery/infer"
)

// A conversation that another model has made is told to be read again, and how
// far that is.
func TestPlainTellsOfReadingAgain(t *testing.T) {
	d := newFake(1, "One")
	var out bytes.Buffer
	p := &plain{ctx: t.Context(), workspace: &fakeDesk{open: []*fakeDialogue{d}}, d: d, out: &out, model: &infer.Model{Name: "the new"}}
	swapped, replaced := "the old", ""
	at := func(read, all, generated int, text, want string) {
		t.Helper()
		out.Reset()
		d.generate(text, infer.Progress{Read: read, ToRead: all, Generated: generated})
		d.v.Live.Swapped, d.v.Live.Replaced, d.v.Live.Turn.Adapter = swapped, replaced, "pirate"
		p.speak()
		p.speak()
		if out.String() != want {
			t.Errorf("%d of %d: said %q, want %q", read, all, out.String(), want)
		}
	}
	at(0, 0, 0, "", "This conversation was made with the old, and the new runs now: it is read again.\n")
	at(10, 1000, 0, "", "")
	at(300, 1000, 0, "", "Read 300 of 1000 tokens, 25 percent.\n")
	at(400, 1000, 0, "", "")
	at(800, 1000, 0, "", "Read 800 of 1000 tokens, 75 percent.\n")
	at(1000, 1000, 0, "", "")
	at(1000, 1000, 3, "One two. Three", "Answer: One two. ")

	d = newFake(2, "Two")
	p.d, p.reading, p.inside, swapped, replaced = d, rereading{}, false, "", "poet"
	at(0, 1000, 0, "", "poet is not there any more, and what it has read is read again with pirate.\n")
	at(500, 1000, 0, "", "Read 500 of 1000 tokens, 50 percent.\n")
}
