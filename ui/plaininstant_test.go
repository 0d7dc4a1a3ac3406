package ui

import (
	"bytes"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

// An instant answers before anybody can look.
type instant struct{ *fakeDialogue }

func (d instant) Send(text string) error {
	d.say(turn.RoleUser, text)
	d.say(turn.RoleAssistant, "Yes, "+text)
	return nil
}

func TestPlainTellsAnswersThatAreOverAtOnce(t *testing.T) {
	var out bytes.Buffer
	p := &plain{d: instant{newFake(1, "One")}, out: &out}
	for _, text := range []string{"one", "two"} {
		if err := p.take(text); err != nil {
			t.Fatal(err)
		}
	}
	p.speak()
	if got, want := out.String(), "Answer: Yes, one\nAnswer: Yes, two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An ending answers, and its answer is over at one of the next looks.
type ending struct {
	*fakeDialogue
	looks int
}

func (d *ending) View() chat.View {
	if d.looks--; d.looks == 0 {
		d.end()
	}
	return d.v
}

// A restless workspace always has something new.
type restless struct{ *fakeDesk }

func (restless) Changes() <-chan struct{} {
	changed := make(chan struct{})
	close(changed)
	return changed
}

// However near to the end of the input an answer ends, it is told.
func TestPlainTellsAnAnswerThatEndsWithTheInput(t *testing.T) {
	for looks := 1; looks < 12; looks++ {
		d := &ending{newFake(1, "One"), looks + 1}
		d.generate("A rook", infer.Progress{})
		var out bytes.Buffer
		p := &plain{ctx: t.Context(), workspace: restless{&fakeDesk{}}, d: d, out: &out}
		lines := make(chan string)
		close(lines)
		if err := p.loop(lines, nil); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasPrefix(got, "Answer: A rook\n") {
			t.Errorf("over at look %d it tells %q", looks+1, got)
		}
	}
}
