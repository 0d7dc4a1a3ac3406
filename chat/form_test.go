package chat_test

import (
	"regexp"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/infer"
	"rookery/infer/grammar"
)

// Answers keep to the form of their conversation: also one that was stopped and
// continued, one that goes on after the program was opened anew, and retries.
func TestAnswersKeepToTheForm(t *testing.T) {
	const expression = `[1-6] (cats|dogs) and [a-z ]{20,40}\.`
	whole := regexp.MustCompile(`^` + expression + `$`)
	store := memstore.New()
	defaults := chat.Defaults{Sampling: seeded(1, 7)}
	r := newRoom(t, setup{babble: true, store: store, defaults: defaults})
	d := r.workspace.New()
	must(t, d.SetForm(grammar.Spec{Kind: grammar.KindRegex, Text: expression}))
	check := func(v chat.View) {
		t.Helper()
		if got := last(v); !whole.MatchString(got.Text) || got.Reason != infer.ReasonStop || got.Open {
			t.Fatalf("%q, %v, %v", got.Text, got.Reason, v.Err)
		}
	}
	v := ask(t, d, "How many?")
	check(v)
	must(t, d.Retry())
	check(settled(t, d))
	v = stopAfter(t, r, d, "And now?", 12)
	part := last(v)
	if !part.Open || whole.MatchString(part.Text) {
		t.Fatalf("stopped at %q", part.Text)
	}
	id := v.Conversation.ID
	r.close()

	r = newRoom(t, setup{babble: true, store: store, defaults: defaults})
	d = r.workspace.Open(id)
	settled(t, d)
	must(t, d.Continue())
	v = settled(t, d)
	check(v)
	if !strings.HasPrefix(last(v).Text, part.Text) {
		t.Errorf("%q is continued as %q", part.Text, last(v).Text)
	}

	must(t, d.SetForm(grammar.Spec{}))
	if v := ask(t, d, "And now?"); whole.MatchString(last(v).Text) {
		t.Errorf("a free answer is %q", last(v).Text)
	}
	if err := d.SetForm(grammar.Spec{Kind: grammar.KindGBNF, Text: "root ::= x"}); err == nil || d.View().Conversation.Form.Kind != grammar.KindNone {
		t.Errorf("a grammar without its rule: %v", err)
	}
}

// An answer that began free and does not fit the form says so and stays.
func TestFormRefusesWhatItCannotContinue(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	part := last(stopAfter(t, r, d, "story", 9))
	must(t, d.SetForm(grammar.Spec{Kind: grammar.KindJSON}))
	must(t, d.Continue())
	v := settled(t, d)
	if v.Err == nil || !strings.Contains(v.Err.Error(), "under its grammar") || last(v).Text != part.Text {
		t.Errorf("%v, %q", v.Err, last(v).Text)
	}
}
