package ui

import (
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/ui/kit"
)

// Blind answers are read out without their names, which the vote brings; it is
// for the answer that had the number.
func TestPlainBlindComparison(t *testing.T) {
	k := compareDesks()
	d := k.open[0]
	var out strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: d}
	if err := p.command("compare", "blind states Which bird?"); err != nil {
		t.Fatal(err)
	}
	d.rows(true)
	p.speak()
	heard := out.String()
	for _, name := range []string{"animals", "dialogue", "sad", "bare", "tokens", "perplexity"} {
		if strings.Contains(heard, name) {
			t.Errorf("%q is told before the vote:\n%s", name, heard)
		}
	}
	if n := strings.Count(heard, " of 4: Once there was "); n != 4 {
		t.Fatalf("%d of 4 answers were read out:\n%s", n, heard)
	}
	_, second, _ := strings.Cut(heard, "Answer 2 of 4: ")
	second, _, _ = strings.Cut(second, "\n")
	at := slices.IndexFunc(d.v.Alternatives, func(r chat.Alternative) bool { return kit.Clean(answerOf(r)) == second })
	if at < 0 {
		t.Fatalf("nobody gave the answer %q", second)
	}
	out.Reset()
	if err := p.command("votes", "2"); err != nil {
		t.Fatal(err)
	}
	row := d.v.Alternatives[at]
	if want := "vote " + row.Turn.ID.String(); !slices.Contains(d.calls, want) {
		t.Errorf("asked %q, want %q", d.calls, want)
	}
	for _, want := range []string{"You prefer " + row.Variant.Name + ".\n", "Answer 2 is of " + row.Variant.Name + ".", "The conversation goes on from it;"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
