package chat_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/sessions"
)

const replayTokens = 20 // of an answer

// changed is a conversation whose adapter was changed between turns, for a
// retry, in the middle of an answer, and where an answer that was stopped went on.
func (r *adaptedRoom) changed() *chat.Dialogue {
	d := r.workspace.New()
	r.use(d, "demo-pirate")
	ask(r.t, d, "Tell me a story about a cat.")
	r.use(d, "demo-excited")
	ask(r.t, d, "And the dog?")
	r.use(d, "")
	must(r.t, d.Retry())
	settled(r.t, d)
	r.use(d, "demo-pirate")
	excited := find(r.t, r.workspace.Adapters(), "demo-excited", adapter.Options{})
	r.during(d, func() error { return d.Send("Who was there?") }, 7, func() { must(r.t, d.SetAdapter(excited)) })
	r.during(d, func() error { return d.Send("What then?") }, 6, d.Stop)
	r.use(d, "demo-pirate")
	must(r.t, d.Continue())
	settled(r.t, d)
	r.use(d, "")
	return d
}

// A line whose states are gone goes on as the one whose states were kept: every
// stretch of it is read with the adapter that it was read with at first.
func TestThinnedLinesGoOnAsKeptOnes(t *testing.T) {
	stores := map[string]func() turn.Store{
		"memory": func() turn.Store { return memstore.New() },
		"disk": func() turn.Store {
			s, err := sessions.Open(t.Context(), t.TempDir())
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			r := newAdaptedRoom(t, open())
			d := r.changed()
			head := last(settled(t, d))
			v := d.View()
			looked := v.Turns[5]
			kept, err := d.Candidates(t.Context(), looked.ID, 12, 5)
			must(t, err)
			forks, err := r.workspace.Fork(d, head.ID, 1)
			must(t, err)
			want, state := r.answered(d, "And then?")
			must(t, d.SetHead(head.ID))
			must(t, forks[0].Continue())
			more := last(settled(t, forks[0]))
			moreState := r.state(more.ID)
			if len(more.Tokens) <= len(head.Tokens) {
				t.Fatalf("it did not go on: %d tokens", len(more.Tokens))
			}

			r.close()
			thin(t, r.store, d.ID())
			r = r.again()
			d = r.open(d.ID())
			if got, err := d.Candidates(t.Context(), looked.ID, 12, 5); err != nil || !cmp.Equal(got, kept) {
				t.Errorf("the tokens of a thinned answer look otherwise (%v): %s", err, cmp.Diff(kept, got))
			}
			got, again := r.answered(d, "And then?")
			if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
				t.Errorf("thinned it answers %q, kept %q; the states are the same: %v", got.Text, want.Text, slices.Equal(again, state))
			}
			if fed := got.Usage.Read; fed < 5*replayTokens {
				t.Errorf("only %d tokens were read: it was not thinned", fed)
			}
			r.close()
			thin(t, r.store, d.ID())
			r = r.again()
			d = r.open(d.ID())
			must(t, d.SetHead(head.ID))
			must(t, d.Continue())
			sequel := last(settled(t, d))
			if !slices.Equal(sequel.Tokens, more.Tokens) || !slices.Equal(r.state(sequel.ID), moreState) {
				t.Errorf("thinned it goes on to %q, kept to %q", sequel.Text, more.Text)
			}
			if r.oneAdapter(d) {
				t.Error("with one adapter for all it is the same state: nothing was tried")
			}
		})
	}
}

// Reading a line again may be stopped anywhere: what is there is as it was, and the
// next time reads it to the end.
func TestStoppedWhileALineIsReadAgain(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	d := r.changed()
	head := last(settled(t, d))
	want, state := r.answered(d, "And then?")
	must(t, d.SetHead(head.ID))
	settled(t, d)
	id, before := d.ID(), r.state(head.ID)
	stopped := 0 // before anything was drawn
	for _, steps := range []int{1, 4, 7} {
		r.close()
		thin(t, r.store, id)
		r = r.again()
		d = r.open(id)
		must(t, d.SetHead(head.ID))
		settled(t, d)
		r.gate.shut()
		must(t, d.Send("And then?"))
		r.gate.allow(steps)
		v := until(t, d, "the steps", func(v chat.View) bool { return r.gate.waits() && v.Live != nil })
		d.Stop()
		r.gate.open()
		if len(v.Live.Drawn) == 0 {
			stopped++
		}
		if v := settled(t, d); v.Err != nil {
			t.Fatalf("stopped after %d steps: %v", steps, v.Err)
		}
		must(t, d.SetHead(head.ID))
		got, again := r.answered(d, "And then?")
		if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
			t.Errorf("stopped after %d steps it answers %q then, never stopped %q", steps, got.Text, want.Text)
		}
		must(t, d.SetHead(head.ID))
		settled(t, d)
	}
	if stopped < 2 {
		t.Errorf("%d times it was stopped while the line was read", stopped)
	}
	if s, err := r.store.Snapshot(t.Context(), head.ID); err != nil || s != nil && !slices.Equal(slices.Concat(s.State, s.Logits), before) {
		t.Errorf("the head has another state than before (%v)", err)
	}
}

// The same after a bundle without states was written and read.
func TestBundledLinesGoOnAsKeptOnes(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	d := r.changed()
	settled(t, d)
	var bundle bytes.Buffer
	must(t, r.workspace.ExportTree(t.Context(), &bundle, d.ID(), transfer.Bundle, false))
	want, state := r.answered(d, "And then?")
	r.close()

	r = newAdaptedRoom(t, memstore.New())
	for _, name := range []string{"demo-pirate", "demo-excited"} {
		find(t, r.workspace.Adapters(), name, adapter.Options{}) // known there
	}
	_, err := r.workspace.Import(t.Context(), bytes.NewReader(bundle.Bytes()), int64(bundle.Len()))
	must(t, err)
	got, again := r.answered(r.open(d.ID()), "And then?")
	if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
		t.Errorf("imported it answers %q, kept %q", got.Text, want.Text)
	}
}

// A compared variant reads the prompt in its own way, and so does who goes on
// from it when its states are gone.
func TestThinnedVariantsGoOnAsKeptOnes(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	pirate := find(t, r.workspace.Adapters(), "demo-pirate", adapter.Options{})
	animals, err := r.workspace.Library().Find(t.Context(), "demo-animals")
	must(t, err)
	for name, variant := range map[string]chat.Variant{
		"adapter": {Name: "other", Adapter: pirate, Sampling: *seeded(0.9, 7)},
		"base":    {Name: "other", Base: animals, Adapter: pirate, Sampling: *seeded(0.9, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAdaptedRoom(t, r.store)
			d := r.workspace.New()
			r.use(d, "demo-excited")
			ask(t, d, "Tell me a story about a cat.")
			must(t, d.SendCompare("And the dog?", []chat.Variant{{Name: "own", Adapter: find(t, r.workspace.Adapters(), "demo-excited", adapter.Options{}), Sampling: *seeded(0.9, 7)}, variant}))
			v := settled(t, d)
			if v.Err != nil || len(v.Alternatives) != 2 {
				t.Fatalf("%d answers, %v", len(v.Alternatives), v.Err)
			}
			head := v.Alternatives[1].Turn.ID
			must(t, d.ChooseAlternatives([]turn.ID{head}, false))
			settled(t, d)
			want, state := r.answered(d, "And then?")
			must(t, d.SetHead(head))
			settled(t, d)
			r.close()
			thin(t, r.store, d.ID())
			r = r.again()
			got, again := r.answered(r.open(d.ID()), "And then?")
			if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
				t.Errorf("thinned it answers %q, kept %q; the states are the same: %v", got.Text, want.Text, slices.Equal(again, state))
			}
		})
	}
}

// Where an adapter is gone the conversation says so, and goes on with another
// one only when it is told to; what it reads then is as lasting as the rest.
func TestThinnedLinesWithoutTheirAdapter(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	path := adapterFile(t, "pirate")
	d := r.workspace.New()
	must(t, d.SetAdapter(find(t, r.workspace.Adapters(), path, adapter.Options{Alpha: 32})))
	ask(t, d, "Tell me a story about a cat.")
	r.use(d, "demo-excited")
	head := last(ask(t, d, "And the dog?"))
	want, state := r.answered(d, "And then?")
	must(t, d.SetHead(head.ID))
	settled(t, d)
	r.close()
	thin(t, r.store, d.ID())
	must(t, os.Remove(path))

	r = r.again()
	d = r.open(d.ID())
	must(t, d.Send("And then?"))
	failed := func(v chat.View) bool { return v.Err != nil && v.Live == nil }
	err := until(t, d, "an error", failed).Err
	var missing *chat.MissingError
	if !errors.As(err, &missing) || missing.First != 1 || missing.Last != 2 {
		t.Fatalf("the error is %v", err)
	}
	for _, part := range []string{"turns 1 to 2 were read with the adapter pirate (", "whose file " + path + " is gone", "put it back, or let /reread go on with the adapter demo-excited ("} {
		refused(t, err, part)
	}
	unpackAdapter(t, "excited", path)
	must(t, d.Retry())
	refused(t, until(t, d, "another error", failed).Err, "whose file "+path+" has changed since: put the old one back")
	unpackAdapter(t, "pirate", path)
	must(t, d.Retry())
	v := settled(t, d)
	if v.Err != nil || !slices.Equal(last(v).Tokens, want.Tokens) || !slices.Equal(r.state(last(v).ID), state) {
		t.Errorf("with its adapter again it answers %q (%v), kept %q", last(v).Text, v.Err, want.Text)
	}

	r.close()
	thin(t, r.store, d.ID())
	must(t, os.Remove(path))
	r = r.again()
	d = r.open(d.ID())
	must(t, d.SetHead(head.ID))
	must(t, d.Send("And then?"))
	until(t, d, "an error", failed)
	r.gate.shut()
	must(t, d.Reread())
	told := until(t, d, "what is replaced", func(v chat.View) bool { return v.Live != nil && v.Live.Replaced != "" })
	r.gate.open()
	if told.Live.Replaced != "pirate" {
		t.Errorf("replaced is %q", told.Live.Replaced)
	}
	v = settled(t, d)
	if v.Err != nil || slices.Equal(r.state(last(v).ID), state) {
		t.Errorf("without its adapter it is the same state, %v", v.Err)
	}
	from := last(v).ID
	want, state = r.answered(d, "Why?")
	must(t, d.SetHead(from))
	settled(t, d)
	r.close()
	thin(t, r.store, d.ID())
	unpackAdapter(t, "pirate", path)
	r = r.again()
	got, again := r.answered(r.open(d.ID()), "Why?")
	if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
		t.Errorf("thinned once more it answers %q, kept %q", got.Text, want.Text)
	}
	if strings.TrimSpace(got.Text) == "" {
		t.Error("nothing was answered")
	}
}

// A mix that comes in between leaves the conversation's own run as it was: the
// line is read with the adapters that read it at first, and so it is when the
// states of the mix are gone.
func TestMixesAfterOtherAdapters(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	d := r.workspace.New()
	r.use(d, "demo-pirate")
	ask(t, d, "Tell me a story about a cat.")
	r.use(d, "demo-excited")
	head := last(ask(t, d, "And the dog?"))
	bare, state := r.answered(d, "And then?")
	must(t, d.SetHead(head.ID))
	silent, err := r.workspace.Library().ParseMix(t.Context(), "own=1,demo-sad=0")
	must(t, err)
	must(t, d.SetMix(silent))
	mixed, own := r.answered(d, "And then?")
	if !slices.Equal(mixed.Tokens, bare.Tokens) || !slices.Equal(own[:len(own)-r.engine.Model().Shape.Vocab], state[:len(state)-r.engine.Model().Shape.Vocab]) {
		t.Errorf("beside a silent state it answers %q, alone %q", mixed.Text, bare.Text)
	}
	loud, err := r.workspace.Library().ParseMix(t.Context(), "own=1,demo-sad=0.8")
	must(t, err)
	must(t, d.SetMix(loud))
	r.use(d, "demo-pirate")
	want, _ := r.answered(d, "Why?")
	kept, err := r.store.Snapshot(t.Context(), want.ID)
	must(t, err)
	must(t, d.SetHead(mixed.ID))
	settled(t, d)
	r.close()
	thin(t, r.store, d.ID())
	r = r.again()
	got, _ := r.answered(r.open(d.ID()), "Why?")
	again, err := r.store.Snapshot(t.Context(), got.ID)
	must(t, err)
	if len(again.Members) != 1 || len(kept.Members) != 1 {
		t.Fatalf("%d and %d states beside the own", len(again.Members), len(kept.Members))
	}
	if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again.State, kept.State) || !slices.Equal(again.Members[0].State, kept.Members[0].State) {
		t.Errorf("thinned the mix answers %q, kept %q", got.Text, want.Text)
	}
}

// A variant that was chosen began from a state that is not in the library any
// more: its own state goes on without, and a line without states says what it
// misses, until it is told to begin from the conversation's own.
func TestVariantsWhoseBaseIsGone(t *testing.T) {
	r := newAdaptedRoom(t, memstore.New())
	book, err := r.workspace.Library().Bake(t.Context(), r.engine, library.Recipe{Name: "book", Text: "A rook lived in a tree."}, nil)
	must(t, err)
	d := r.workspace.New()
	ask(t, d, "Tell me a story about a cat.")
	own := chat.Variant{Name: "own", Sampling: *seeded(0.9, 7)}
	must(t, d.SendCompare("And the dog?", []chat.Variant{own, {Name: "book", Base: book, Sampling: own.Sampling}}))
	v := settled(t, d)
	if v.Err != nil || len(v.Alternatives) != 2 {
		t.Fatalf("%d answers, %v", len(v.Alternatives), v.Err)
	}
	chosen := v.Alternatives[1].Turn
	if chosen.History.Base != book.ID || chosen.History.Kind != book.Kind {
		t.Errorf("the variant has the history %+v", chosen.History)
	}
	must(t, d.ChooseAlternatives([]turn.ID{chosen.ID}, false))
	settled(t, d)
	must(t, r.workspace.DeleteState(t.Context(), book))
	want, state := r.answered(d, "And then?")
	must(t, d.SetHead(chosen.ID))
	settled(t, d)
	r = r.again()
	d = r.open(d.ID())
	if got, again := r.answered(d, "And then?"); !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(again, state) {
		t.Errorf("with its state it answers %q, before %q", got.Text, want.Text)
	}
	must(t, d.SetHead(chosen.ID))
	settled(t, d)

	r.close()
	thin(t, r.store, d.ID())
	r = r.again()
	d = r.open(d.ID())
	must(t, d.Send("Why?"))
	v = until(t, d, "an error", func(v chat.View) bool { return v.Err != nil && v.Live == nil })
	refused(t, v.Err, "turns 1 to 5 were read from a state that is not in the library any more: import it again, or let /reread go on from the conversation's own")
	must(t, d.Reread())
	v = settled(t, d)
	if h := last(v).History; v.Err != nil || h.Base != 0 || len(v.Turns) != 6 {
		t.Errorf("%d turns, the last one with the history %+v, %v", len(v.Turns), h, v.Err)
	}
}
