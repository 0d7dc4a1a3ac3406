package chat_test

import (
	"errors"
	"strings"
	"testing"

	"rookery/chat/memstore"
	"rookery/chat/turn"
)

// Mixes are read from words, saved under names, and hold on to their states.
func TestSavedMixes(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{babble: true, store: store, defaults: answersOf(9)})
	ctx := t.Context()
	a, b := mixing(t, r)
	mix, err := r.workspace.ParseMix(ctx, "own=1, ALPHA=0.5,beta=-0.25")
	must(t, err)
	if mix.String() != "own=1,alpha=0.5,beta=-0.25" {
		t.Errorf("parsed %q", mix)
	}
	if off, err := r.workspace.ParseMix(ctx, " OFF "); err != nil || off.Active() {
		t.Errorf("off is %q, %v", off, err)
	}
	for text, want := range map[string]string{
		"gamma=1": `there is no state "gamma": there are alpha and beta`, "own=1": "needs a state besides", "alpha": "write state=weight",
		"alpha=x": "write state=weight", "own=1,alpha=-1": "add up to 0", "alpha=1e9": "must be between", "alpha=NaN": "must be between",
	} {
		if _, err := r.workspace.ParseMix(ctx, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err = r.workspace.SaveMix(ctx, " gloom\n", mix)
	must(t, err)
	for _, wrong := range []error{
		second(r.workspace.SaveMix(ctx, "  ", mix)), second(r.workspace.SaveMix(ctx, "none", turn.Mix{})), second(r.workspace.SaveMix(ctx, strings.Repeat("x", 5000), mix)),
	} {
		if wrong == nil {
			t.Error("a mix without a name, or a name without a mix, was saved")
		}
	}
	must(t, r.workspace.Library().Rename(ctx, a.ID, "omega"))
	got, err := r.workspace.FindMix(ctx, "GLOOM")
	must(t, err)
	if got.String() != "own=1,omega=0.5,beta=-0.25" {
		t.Errorf("taken: %q", got)
	}
	if _, err := r.workspace.FindMix(ctx, "joy"); err == nil || !strings.Contains(err.Error(), `there is no saved mix "joy": there is gloom`) {
		t.Errorf("one that is not there: %v", err)
	}
	var used *turn.InUseError
	if err := r.workspace.DeleteState(ctx, a); !errors.As(err, &used) || used.Saved != 1 {
		t.Errorf("a state of a saved mix: %v", err)
	}
	must(t, r.workspace.DeleteMix(ctx, "gloom"))
	d := r.workspace.New()
	must(t, d.SetMix(mixOf(1, b, 1.0)))
	if err := r.workspace.DeleteState(ctx, b); !errors.As(err, &used) || used.Mixing != 1 || !strings.Contains(err.Error(), "take it out of the mix") {
		t.Errorf("a state of an open conversation's mix: %v", err)
	}
	ask(t, d, "anything")
	r.workspace.CloseDialogue(d)
	if err := r.workspace.DeleteState(ctx, b); !errors.As(err, &used) || used.Mixing != 1 {
		t.Errorf("a state of a stored conversation's mix: %v", err)
	}
	must(t, r.workspace.DeleteState(ctx, a))
}

func second[T any](_ T, err error) error { return err }
