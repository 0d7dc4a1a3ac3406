package ui

import (
	"bytes"
	"testing"

	"rookery/chat"
)

// An instant answers before anybody can look.
type instant struct{ *fakeDialogue }

func (d instant) Send(text string) error {
	d.say(chat.RoleUser, text)
	d.say(chat.RoleAssistant, "Yes, "+text)
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
