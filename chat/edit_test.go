package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
)

// Any earlier prompt is edited, and the new one alone is read.
func TestEditTurnReadsItselfAlone(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "again")
	v := ask(t, d, "hello")
	read := r.fed()
	must(t, d.EditTurn(v.Turns[2].ID, "story"))
	v = settled(t, d)
	shows(t, v, []string{"hello", helloAnswer, "story", storyAnswer}, nil)
	if n := r.fed() - read; n > len(v.Turns[2].Tokens)+1 {
		t.Errorf("the edited prompt has %d tokens and %d were read", len(v.Turns[2].Tokens), n)
	}
	r.checkStates(v, 4)
	// The line that it left is whole.
	must(t, d.SwitchSibling(v.Turns[2].ID, -1))
	shows(t, d.View(), []string{"hello", helloAnswer, "again", againAnswer, "hello", helloAnswer}, nil)
	if err := d.EditTurn(v.Turns[1].ID, "x"); err == nil {
		t.Error("an answer was edited as a prompt")
	}
	if err := d.EditTurn(99, "x"); err == nil {
		t.Error("a turn that is not there was edited")
	}
}

// An edited answer keeps the tokens before the first changed byte, and costs
// nothing until the next prompt.
func TestEditAnswer(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := ask(t, d, "story")
	old, read := last(v), r.fed()
	const cut = "Once upon a time there was a "
	must(t, d.EditAnswer(old.ID, cut+"crow.", false))
	v = settled(t, d)
	got := last(v)
	if got.Text != cut+"crow." || !got.Edited || got.Open || got.Reason != infer.ReasonStop || v.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) {
		t.Errorf("the edited answer is %+v", got)
	}
	if decoded(r, got.Tokens) != " "+cut+"crow." {
		t.Errorf("it reads %q", decoded(r, got.Tokens))
	}
	same := 0
	for same < len(got.Tokens) && got.Tokens[same] == old.Tokens[same] {
		same++
	}
	if text := decoded(r, old.Tokens[:same]); len(text) < len(cut)-1 {
		t.Errorf("only %q kept its tokens", text)
	}
	if r.fed() != read {
		t.Errorf("the edit read %d tokens", r.fed()-read)
	}
	v = ask(t, d, "again")
	if n := r.fed() - read; n > len(got.Tokens)+len(v.Turns[2].Tokens) {
		t.Errorf("the next prompt read %d tokens", n)
	}
	r.checkStates(v, -1)
	if err := d.EditAnswer(v.Turns[0].ID, "x", false); !errors.Is(err, chat.ErrNotAnAnswer) {
		t.Errorf("a prompt was edited as an answer: %v", err)
	}
}

// With goOn the model continues at the end of the edited text, as it would
// have after the same tokens.
func TestEditAnswerAndContinue(t *testing.T) {
	defaults := chat.Defaults{Sampling: seeded(1, 3), MaxTokens: 12, Stops: []string{"@@"}}
	r := newRoom(t, setup{babble: true, defaults: defaults})
	d := r.workspace.New()
	v := ask(t, d, "anything")
	old := last(v)
	must(t, d.EditAnswer(old.ID, "A rook has ", true))
	v = settled(t, d)
	got := last(v)
	if !strings.HasPrefix(got.Text, "A rook has") || len(got.Text) <= len("A rook has") || !got.Edited || !got.Open {
		t.Errorf("the edited answer went on as %+v", got)
	}
	r.checkStates(v, 2)
	if len(got.Tokens) != 12+len(r.engine.Model().Tokenizer.Encode(nil, " A rook has")) {
		t.Errorf("it has %d tokens", len(got.Tokens))
	}
	// What a person wrote stays when the rest is stopped at once.
	r.gate.shut()
	must(t, d.EditAnswer(old.ID, "Stopped here", true))
	d.Stop()
	r.gate.open()
	if got := last(settled(t, d)); !strings.HasPrefix(got.Text, "Stopped here") || !got.Open {
		t.Errorf("the stopped one is %+v", got)
	}
}

// The prompt of a thinking model begins the answer: that part is not the
// answer's to change.
func TestEditAnswerKeepsThePromptsHeader(t *testing.T) {
	model := modelNamed("rwkv7-g1e-2.9b-20260312-ctx8192")
	r := newRoom(t, setup{model: model, babble: true, defaults: chat.Defaults{Think: turn.ThinkFree, MaxTokens: 6, Sampling: seeded(1, 1), Stops: []string{"@@"}}})
	d := r.workspace.New()
	v := ask(t, d, "anything")
	if err := d.EditAnswer(last(v).ID, "No thought.", false); err == nil || !strings.Contains(err.Error(), "<think") {
		t.Errorf("the header went: %v", err)
	}
	must(t, d.EditAnswer(last(v).ID, "<think>Short.</think>\nYes.", false))
	got := last(settled(t, d))
	if decoded(r, got.Tokens) != ">Short.</think>\nYes." || got.Recall == nil {
		t.Errorf("it reads %q, later %q", decoded(r, got.Tokens), decoded(r, got.Recall))
	}
}

func TestBranch(t *testing.T) {
	defaults := chat.Defaults{Sampling: seeded(1, 5), MaxTokens: 10, Stops: []string{"@@"}}
	r := newRoom(t, setup{babble: true, defaults: defaults})
	d := r.workspace.New()
	v := ask(t, d, "anything")
	old := last(v)
	other := r.engine.Model().Tokenizer.Encode(nil, "x")[0]
	must(t, d.Branch(old.ID, 4, other))
	v = settled(t, d)
	got := last(v)
	if !slices.Equal(got.Tokens[:5], append(slices.Clone(old.Tokens[:4]), other)) || len(got.Tokens) != 15 || !got.Edited {
		t.Errorf("the branch has tokens %v beside %v", got.Tokens, old.Tokens)
	}
	r.checkStates(v, 2)
	// A token that ends the answer ends the branch.
	must(t, d.Branch(old.ID, 4, 0))
	got = last(settled(t, d))
	if !slices.Equal(got.Tokens, old.Tokens[:4]) || got.Open || got.Reason != infer.ReasonStop {
		t.Errorf("the ended branch is %+v", got)
	}
	for _, at := range []int{-1, len(old.Tokens) + 1} {
		if err := d.Branch(old.ID, at, other); err == nil {
			t.Errorf("a branch at token %d of %d", at, len(old.Tokens))
		}
	}
	if err := d.Branch(old.ID, 0, 1<<30); err == nil {
		t.Error("a branch with a token that the model does not have")
	}
}

func TestMarks(t *testing.T) {
	store := newRoom(t, setup{})
	d := store.workspace.New()
	v := ask(t, d, "hello")
	must(t, d.SetLabel(v.Turns[1].ID, "  the\ngood one "))
	must(t, d.SetPinned(v.Turns[0].ID, true))
	v = settled(t, d)
	if v.Turns[1].Label != "the good one" || !v.Turns[0].Pinned {
		t.Errorf("marks %q, %v", v.Turns[1].Label, v.Turns[0].Pinned)
	}
	store.checkStates(v, 2)
	store.workspace.CloseDialogue(d)
	d = store.workspace.Open(d.ID())
	v = settled(t, d)
	if v.Turns[1].Label != "the good one" || !v.Turns[0].Pinned || v.Turns[0].Label != "" {
		t.Errorf("read back: %q, %v", v.Turns[1].Label, v.Turns[0].Pinned)
	}
	must(t, d.SetLabel(v.Turns[1].ID, ""))
	must(t, d.SetPinned(v.Turns[0].ID, false))
	if v = settled(t, d); v.Turns[1].Label != "" || v.Turns[0].Pinned {
		t.Errorf("marks stay: %q, %v", v.Turns[1].Label, v.Turns[0].Pinned)
	}
	store.checkStates(v, 2)
	if err := d.SetLabel(77, "x"); err == nil {
		t.Error("a turn that is not there has a label")
	}
}

// A mark that is set while the answer goes on in place stays.
func TestMarkWhileAnAnswerGrows(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := stopAfter(t, r, d, "story", 4)
	r.gate.shut()
	must(t, d.Continue())
	must(t, d.SetLabel(last(v).ID, "kept"))
	r.gate.open()
	if got := last(settled(t, d)); got.Label != "kept" || got.Text != storyAnswer {
		t.Errorf("the answer is %q with label %q", got.Text, got.Label)
	}
}

// A prompt can be marked as soon as it is sent, before its tokens are made.
func TestMarkOfAPromptJustSent(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{store: store})
	for range 30 {
		d := r.workspace.New()
		must(t, d.Send("hello"))
		must(t, d.SetLabel(d.View().Turns[0].ID, "kept"))
		if got := settled(t, d).Turns[0]; got.Label != "kept" {
			t.Fatalf("the prompt has the label %q", got.Label)
		}
		if _, turns, err := store.Load(t.Context(), d.ID()); err != nil || turns[0].Label != "kept" {
			t.Fatalf("stored are %+v, %v", turns, err)
		}
	}
}
