package chat_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/chattest"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/scripted"
)

// adaptedScript is a room whose scripted model babbles, and can use adapters.
func adaptedScript(t *testing.T, store turn.Store) *room {
	t.Helper()
	return newRoom(t, setup{babble: true, adapted: true, store: store, defaults: chat.Defaults{Sampling: seeded(1, 5), MaxTokens: 4, Stops: []string{"no stop"}}})
}

func (r *room) use(d *chat.Dialogue, name string) {
	r.t.Helper()
	must(r.t, d.SetAdapter(find(r.t, r.workspace.Adapters(), name, adapter.Options{})))
}

// forgetful ends the program, and starts it with a store that has no states of
// a conversation.
func (r *room) forgetful(d *chat.Dialogue) (*room, *chat.Dialogue) {
	r.t.Helper()
	settled(r.t, d)
	r.close()
	thin(r.t, r.store, d.ID())
	again := adaptedScript(r.t, r.store.Store)
	d = again.workspace.Open(d.ID())
	settled(r.t, d)
	return again, d
}

// An answer that goes on with another adapter, and whose own state is gone, is
// read again first. The state in the middle of that is not the prompt's.
func TestContinuedWithAnotherAdapterAfterThinning(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	d := r.workspace.New()
	r.use(d, "plume")
	must(t, d.EditAnswer(last(ask(t, d, "story")).ID, "The nest.", false))
	settled(t, d)
	r, d = r.forgetful(d)
	r.use(d, "quill")
	must(t, d.Continue())
	settled(t, d)
	must(t, d.Retry())
	r.checkStates(settled(t, d), -1)
}

// A prompt whose answer was stopped before it was read is read with the next
// one. Who has read it stays written down, wherever the line goes.
func TestPromptsLeftWithoutAnAnswer(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	d := r.workspace.New()
	r.use(d, "plume")
	unanswered(t, r, d, "one")
	second := ask(t, d, "two").Turns[1]
	r.use(d, "quill")
	must(t, d.EditTurn(second.ID, "three"))
	v := settled(t, d)
	r.checkStates(v, 2)
	forks, err := r.workspace.Fork(d, v.Turns[1].ID, 1)
	must(t, err)
	want, err := r.store.Snapshot(t.Context(), v.Turns[1].ID)
	must(t, err)
	r, d = r.forgetful(forks[0])
	must(t, d.Continue())
	w := settled(t, d)
	got, err := r.store.Snapshot(t.Context(), w.Turns[1].ID)
	must(t, err)
	if want == nil || got == nil || !slices.Equal(got.State, want.State) {
		t.Error("a fork whose states are gone is read otherwise than what it is a fork of")
	}
}

// Compared variants are the first to read such a prompt, each in its own way.
func TestVariantsReadPromptsLeftWithoutAnAnswer(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	d := r.workspace.New()
	r.use(d, "plume")
	unanswered(t, r, d, "one")
	quill := find(t, r.workspace.Adapters(), "quill", adapter.Options{})
	must(t, d.SendCompare("two", []chat.Variant{{Name: "own", Adapter: find(t, r.workspace.Adapters(), "plume", adapter.Options{})}, {Name: "other", Adapter: quill}}))
	other := settled(t, d).Alternatives[1].Turn.ID
	must(t, d.ChooseAlternatives([]turn.ID{other}, false))
	v := settled(t, d)
	r.checkStates(v, -1)
	want, err := r.store.Snapshot(t.Context(), other)
	must(t, err)
	r, d = r.forgetful(d)
	must(t, d.Send("three"))
	v = settled(t, d)
	again := r.reread(v.Turns[:3])
	if n := len(want.Pending); n != 1 || !slices.Equal(again.State, r.pending(want).State) {
		t.Error("what the variant has read is not what is written down")
	}
	r.checkStates(v, -1)
}

// unanswered sends a prompt, and stops before it is read.
func unanswered(t *testing.T, r *room, d *chat.Dialogue, text string) {
	t.Helper()
	r.gate.shut()
	must(t, d.Send(text))
	d.Stop()
	r.gate.open()
	if v := settled(t, d); len(v.Turns) != 1 {
		t.Fatalf("%d turns after a prompt that was not read", len(v.Turns))
	}
}

// Who stops an answer before anything of it is seen has no answer, also where it
// was at its end by then.
func TestStopAtTheEndOfAnAnswer(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: chat.Defaults{MaxTokens: 1}})
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.Send("hello"))
	r.comes(1)
	d.Stop()
	r.gate.open()
	if v := settled(t, d); len(v.Turns) != 1 {
		t.Errorf("the answer is %q of %d tokens, %v", last(v).Text, len(last(v).Tokens), last(v).Reason)
	}
}

// A state that was read with an adapter which came when the answer had been
// prepared is not taken for one of the adapter before.
func TestAdapterChangedWhileAnAnswerIsPrepared(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	d, other := r.workspace.New(), r.workspace.New()
	r.use(d, "plume")
	r.use(other, "plume")
	quill := find(t, r.workspace.Adapters(), "quill", adapter.Options{})
	var once sync.Once
	r.store.replace(func(s *infer.Snapshot) (*infer.Snapshot, error) { // is asked for where the line is put together
		var err error
		once.Do(func() { err = d.SetAdapter(quill) })
		return s, err
	})
	r.checkStates(ask(t, d, "story"), 2)
	v := ask(t, other, "story")
	r.checkStates(v, 2)
	if by := v.Turns[0].History.Runs[0].Name; by != "plume" {
		t.Errorf("the prompt of another conversation is read with %s", by)
	}
}

// A tardy fake keeps who reads states out of it waiting.
type tardy struct {
	*scripted.Adapted
	hold chan struct{}
}

func (b tardy) ReadSlotBeside(s infer.Slot, dst []float32) error {
	<-b.hold
	return b.Adapted.ReadSlotBeside(s, dst)
}

// A kill may come before the state of the prompt, and after tokens that were read
// with another adapter than it was.
func TestKilledBeforeThePromptsState(t *testing.T) {
	store, m := memstore.New(), demoModel()
	r := &room{t: t, store: &trouble{Store: store}, gate: newGate()}
	b := tardy{scripted.NewAdapted(m, scripted.Options{Before: r.gate.before}), make(chan struct{})}
	r.engine = infer.NewEngine(m, b, infer.Options{})
	r.workspace = chat.NewWorkspace(r.engine, r.store, chat.Defaults{Sampling: seeded(1, 5), MaxTokens: 20, Stops: []string{"no stop"}})
	r.workspace.UseAdapters(scripted.OpenAdapter, scripted.Adapters)
	t.Cleanup(r.close)
	t.Cleanup(func() { close(b.hold) })
	d := r.workspace.New()
	r.use(d, "plume")
	quill := find(t, r.workspace.Adapters(), "quill", adapter.Options{})
	came := r.gate.came()
	r.gate.shut()
	must(t, d.Send("story"))
	r.comes(came + 1)
	must(t, d.SetAdapter(quill))
	r.gate.allow(12)
	until(t, d, "text", func(v chat.View) bool { return v.Live != nil && len(v.Live.Drawn) > 10 && v.Live.Text != "" })
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if all, err := store.Journals(t.Context(), d.ID()); err == nil && len(all) == 1 && len(all[0].Tokens) > 4 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no journal")
		}
	}

	next := adaptedScript(t, store)
	again := next.workspace.Open(d.ID())
	v := settled(t, again)
	_, by := chattest.Readers(v.Turns)
	if n := len(v.Turns[0].Tokens); by[0] != by[n-1] || by[n-1] == by[n] || by[n] != quill.Fingerprint {
		t.Errorf("the tokens were read by %v", by)
	}
	must(t, again.Continue())
	settled(t, again)
	must(t, again.Send("more"))
	next.checkStates(settled(t, again), -1)
}

// comes waits until a step has come to the gate.
func (r *room) comes(n int) {
	r.t.Helper()
	for end := time.Now().Add(patience); r.gate.came() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%d steps, waiting for the next one", r.gate.came())
		}
	}
}

// A journal that is begun between a change of the adapter and the step that takes
// it over says who has read what it has, and not who will read what comes.
func TestJournalBegunWhileTheAdapterChanges(t *testing.T) {
	r := newRoom(t, setup{adapted: true, defaults: chat.Defaults{Sampling: seeded(1, 5)}})
	d := r.workspace.New()
	r.use(d, "plume")
	quill := find(t, r.workspace.Adapters(), "quill", adapter.Options{})
	r.gate.shut()
	must(t, d.Send("story"))
	r.gate.allow(1) // draws a blank, which is not shown
	r.comes(2)
	must(t, d.SetAdapter(quill))
	r.gate.allow(1)
	until(t, d, "text", func(v chat.View) bool { return v.Live != nil && v.Live.Text != "" })
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		all, err := r.store.Journals(t.Context(), d.ID())
		must(t, err)
		if len(all) == 1 && len(all[0].Tokens) == 2 {
			if by := all[0].Turn.History.Runs; len(by) != 1 || by[0].Name != "plume" {
				t.Errorf("the journal says %+v", by)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the journals are %+v", all)
		}
	}
	r.gate.open()
	r.checkStates(settled(t, d), 2)
}

// An answer without a history, as of a bundle from before, leaves its last token
// to what comes next, which may have another adapter.
func TestAnswersWithoutHistories(t *testing.T) {
	store := memstore.New()
	r := adaptedScript(t, store)
	d := r.workspace.New()
	settled(t, d)
	must(t, d.Send("one"))
	for _, tn := range settled(t, d).Turns {
		s, err := store.Snapshot(t.Context(), tn.ID)
		must(t, err)
		tn.History = turn.History{}
		must(t, store.CommitTurn(t.Context(), d.View().Conversation, tn, s))
	}
	r.close()
	r = adaptedScript(t, store)
	d = r.workspace.Open(d.ID())
	settled(t, d)
	r.use(d, "plume")
	head := last(ask(t, d, "two")).ID
	r.checkStates(settled(t, d), -1)
	want := last(ask(t, d, "three")).Tokens
	_, d = r.forgetful(d)
	must(t, d.SetHead(head))
	if got := last(ask(t, d, "three")).Tokens; !slices.Equal(got, want) {
		t.Errorf("without its states it answers %v, with them %v", got, want)
	}
}
