package chat_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
)

// journaled waits until the store has some of a running answer.
func journaled(t *testing.T, r *room, id turn.ID, text int) *turn.Journal {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		all, err := r.store.Journals(context.Background(), id)
		if err == nil && len(all) > 0 && len(all[len(all)-1].Text) >= text {
			return &all[len(all)-1]
		}
	}
	t.Fatal("the answer was not journaled")
	return nil
}

// newestJournal is the newest unfinished answer of a conversation, or nil.
func newestJournal(t *testing.T, s turn.Store, id turn.ID) *turn.Journal {
	t.Helper()
	all, err := s.Journals(t.Context(), id)
	must(t, err)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// A killed program's conversation is there again, and its answer goes on
// inside the sentence as if nothing had happened.
func TestCrashRecovery(t *testing.T) {
	defaults := chat.Defaults{Sampling: seeded(1, 11), MaxTokens: 40, Stops: []string{"@@"}}
	defaults.Sampling.Presence, defaults.Sampling.Decay = 1, 0.9
	whole := newRoom(t, setup{babble: true, defaults: defaults})
	want := last(ask(t, whole.workspace.New(), "anything"))

	store := memstore.New()
	killed := newRoom(t, setup{babble: true, defaults: defaults, store: store})
	killed.gate.shut()
	d := killed.workspace.New()
	must(t, d.Send("anything"))
	killed.gate.allow(12)
	j := journaled(t, killed, d.ID(), 5)
	stateSaved(t, killed, d.View().Turns[0].ID) // beside the journal, in no order
	killed.kill()

	defaults.MaxTokens = len(want.Tokens) - len(j.Tokens)
	r := newRoom(t, setup{babble: true, defaults: defaults, store: store})
	d = r.workspace.Open(d.ID())
	v := settled(t, d)
	got := last(v)
	if !got.Open || got.Reason != infer.ReasonCancelled || !slices.Equal(got.Tokens, j.Tokens) || !strings.HasPrefix(got.Text, j.Text) {
		t.Fatalf("recovered %+v from a journal with %q", got, j.Text)
	}
	if again := newestJournal(t, store, d.ID()); again != nil {
		t.Errorf("after the recovery there is still a journal: %v", again)
	}
	must(t, d.Continue())
	if got = last(settled(t, d)); !slices.Equal(got.Tokens, want.Tokens) || got.Text != want.Text {
		t.Errorf("recovered %q\nwhole     %q", got.Text, want.Text)
	}
	r.checkStates(d.View(), 2)
}

// An answer that is continued and killed keeps what it had before.
func TestCrashWhileContinuing(t *testing.T) {
	store := memstore.New()
	killed := newRoom(t, setup{store: store})
	d := killed.workspace.New()
	before := last(stopAfter(t, killed, d, "story", 9))
	killed.gate.shut()
	must(t, d.Continue())
	killed.gate.allow(8)
	j := journaled(t, killed, d.ID(), len(before.Text)+4)
	killed.kill()

	r := newRoom(t, setup{store: store})
	d = r.workspace.Open(d.ID())
	v := settled(t, d)
	if got := last(v); got.ID != before.ID || !strings.HasPrefix(got.Text, j.Text) || len(v.Turns) != 2 {
		t.Fatalf("recovered %q from a journal with %q", texts(v), j.Text)
	}
	must(t, d.Continue())
	v = settled(t, d)
	if got := last(v).Text; got != strings.TrimSuffix(story[1:], "\n\n") {
		t.Errorf("continued to %q", got)
	}
	r.checkStates(v, 2)
}

// A journal may hold the stop already, and a part of a character.
func TestRecoverCutsStops(t *testing.T) {
	m := demoModel()
	encode := func(text string) []int32 { return m.Tokenizer.Encode(nil, text) }
	for _, c := range []struct {
		name   string
		tokens []int32
		text   string
		want   turn.Turn
	}{
		{"open", encode(" one two"), "one", turn.Turn{Text: "one two", Open: true, Tokens: encode(" one two")}},
		{"token 0", append(encode(" one"), 0, 70), "one", turn.Turn{Text: "one", Tokens: encode(" one")}},
		{"stop", encode(" one.\n\nUser"), "one.", turn.Turn{Text: "one.", Tokens: encode(" one.")}},
		{"half a character", append(encode(" one"), 0xc3+1), "one", turn.Turn{Text: "one", Open: true, Tokens: append(encode(" one"), 0xc3+1)}},
		{"nothing new", nil, "", turn.Turn{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			store := memstore.New()
			conv := turn.Conversation{ID: turn.NewID()}
			user := turn.Turn{ID: turn.NewID(), Role: turn.RoleUser, Text: "hello", Model: m.Fingerprint, Tokens: encode("User: hello\n\nAssistant:")}
			conv.Head = user.ID
			answer := turn.Turn{ID: turn.NewID(), Parent: user.ID, Role: turn.RoleAssistant, Model: m.Fingerprint}
			must(t, store.CommitTurn(ctx, conv, user, nil))
			must(t, store.BeginJournal(ctx, conv.ID, answer))
			must(t, store.AppendJournal(ctx, answer.ID, c.tokens, c.text))
			r := newRoom(t, setup{model: m, store: store})
			v := settled(t, r.workspace.Open(conv.ID))
			if c.tokens == nil {
				if last(v).ID != user.ID {
					t.Errorf("an empty journal became %+v", last(v))
				}
				return
			}
			got := last(v)
			if got.ID != answer.ID || got.Text != c.want.Text || got.Open != c.want.Open || !slices.Equal(got.Tokens, c.want.Tokens) {
				t.Errorf("recovered %+v, want %+v", got, c.want)
			}
		})
	}
}
