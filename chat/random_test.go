package chat_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/scripted"
	"rookery/infer/tokenizer"
)

// refusals are what an action may always answer.
var refusals = []error{chat.ErrBusy, chat.ErrNothing, chat.ErrNothingToUndo, chat.ErrNothingToRedo}

// A walk does anything with one conversation and remembers what must not be lost.
type walk struct {
	t     *testing.T
	rng   *rand.Rand
	room  *room
	d     *chat.Dialogue
	known map[turn.ID]string // committed turns and their text
	log   []string
}

// Whatever is done in whatever order, with whatever failures: the state is
// that of the line's tokens, and no text that was committed is lost.
func TestRandomActions(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // it mostly waits
			w := &walk{t: t, rng: rand.New(rand.NewPCG(seed, 1)), known: map[turn.ID]string{}}
			w.start(memstore.New())
			w.d = w.room.workspace.New()
			for range 60 {
				w.step()
				if t.Failed() {
					t.Fatalf("after %s", strings.Join(w.log, ", "))
				}
			}
			w.check()
		})
	}
}

func (w *walk) start(store turn.Store) {
	w.room = newRoom(w.t, setup{
		babble: true, adapted: true, store: store,
		defaults: chat.Defaults{Sampling: seeded(1.5, 0), MaxTokens: 8, Stops: []string{"e", "\n\n"}},
	})
}

func (w *walk) step() {
	type action struct {
		weight int
		name   string
		do     func() error
	}
	d := w.d
	actions := []action{
		{6, "send", func() error { return d.Send(w.words()) }},
		{4, "continue", d.Continue},
		{4, "retry", d.Retry},
		{3, "edit", func() error { return d.EditLast(w.words()) }},
		{3, "stop", func() error { d.Stop(); return nil }},
		{3, "switch", w.switchSibling},
		{2, "edit any", w.editAny},
		{2, "edit answer", w.editAnswer},
		{2, "branch", w.branch},
		{2, "best", func() error { return d.Best(2 + w.rng.IntN(3)) }},
		{2, "compare", func() error { return d.Compare(heats(1, 0.5, 1.5)[:2+w.rng.IntN(2)]) }},
		{2, "compare adapters", w.compareAdapters},
		{5, "adapter", w.adapt},
		{3, "keep", w.keep},
		{1, "mark", w.mark},
		{1, "fork", w.fork},
		{3, "undo", d.Undo},
		{3, "redo", d.Redo},
		{2, "go", w.goAnywhere},
		{1, "system", func() error { return d.SetSystem(w.words()) }},
		{1, "sampling", func() error { return d.SetSampling(*seeded(w.rng.Float32(), 0), "") }},
		{1, "title", func() error { return d.SetTitle(w.words()) }},
		{4, "check", func() error { w.check(); return nil }},
		{1, "reopen", w.reopen},
		{1, "kill", w.kill},
		{1, "lose snapshots", w.loseSnapshots},
		{1, "fail", w.failWrites},
	}
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	n := w.rng.IntN(total)
	for _, a := range actions {
		if n -= a.weight; n >= 0 {
			continue
		}
		err := a.do()
		w.log = append(w.log, fmt.Sprintf("%s (%v)", a.name, err))
		refused := err != nil && strings.Contains(err.Error(), "no answers to choose from") // rows that had nothing are gone
		if err != nil && !refused && !slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }) {
			w.t.Errorf("%s: %v", a.name, err)
		}
		break
	}
	if w.rng.IntN(2) == 0 {
		settled(w.t, w.d)
	}
}

func (w *walk) words() string {
	var b strings.Builder
	for range 1 + w.rng.IntN(4) {
		b.WriteString([]string{"rook ", "the nest\n", "你好 ", "  x\n\n", "User: "}[w.rng.IntN(5)])
	}
	return b.String() + "?"
}

func (w *walk) switchSibling() error {
	v := w.d.View()
	turns := slices.Concat(v.Turns, v.Ahead)
	if len(turns) == 0 {
		return nil
	}
	return w.d.SwitchSibling(turns[w.rng.IntN(len(turns))].ID, w.rng.IntN(3)-1)
}

// any is a turn of the visible line; ok is false if it has none of that role.
func (w *walk) any(role turn.Role) (_ turn.Turn, ok bool) {
	v := w.d.View()
	turns := slices.DeleteFunc(slices.Concat(v.Turns, v.Ahead), func(t turn.Turn) bool { return t.Role != role })
	if len(turns) == 0 {
		return turn.Turn{}, false
	}
	return turns[w.rng.IntN(len(turns))], true
}

func (w *walk) editAny() error {
	t, ok := w.any(turn.RoleUser)
	if !ok {
		return nil
	}
	return w.d.EditTurn(t.ID, w.words())
}

func (w *walk) editAnswer() error {
	t, ok := w.any(turn.RoleAssistant)
	if !ok {
		return nil
	}
	text := strings.ToValidUTF8(t.Text[:w.rng.IntN(len(t.Text)+1)], "")
	return w.d.EditAnswer(t.ID, strings.TrimSpace(text+" "+w.words()), w.rng.IntN(2) == 0)
}

func (w *walk) branch() error {
	t, ok := w.any(turn.RoleAssistant)
	if !ok {
		return nil
	}
	return w.d.Branch(t.ID, w.rng.IntN(len(t.Tokens)+1), int32(w.rng.IntN(256)))
}

// keep chooses from several answers, if there are.
func (w *walk) keep() error {
	var keep []turn.ID
	drop := w.rng.IntN(2) == 0
	v := w.d.View()
	for _, row := range v.Alternatives {
		if w.rng.IntN(2) == 0 {
			keep = append(keep, row.Turn.ID)
		} else if drop {
			delete(w.known, row.Turn.ID)
		}
	}
	if len(v.Alternatives) == 0 {
		return nil
	}
	return w.d.ChooseAlternatives(keep, drop)
}

// adapter is any, or none.
func (w *walk) adapter() (a turn.Adapter, err error) {
	n := w.rng.IntN(len(scripted.Adapters) + 1)
	if n == len(scripted.Adapters) {
		return a, nil
	}
	return w.room.workspace.Adapters().Find(w.t.Context(), scripted.Adapters[n], adapter.Options{})
}

// adapt changes the adapter, whatever runs.
func (w *walk) adapt() error {
	a, err := w.adapter()
	if err != nil {
		return err
	}
	return w.d.SetAdapter(a)
}

// compareAdapters answers once with each of two adapters, or none.
func (w *walk) compareAdapters() error {
	variants := heats(1, 1.2)
	for i := range variants {
		var err error
		if variants[i].Adapter, err = w.adapter(); err != nil {
			return err
		}
	}
	if w.rng.IntN(2) == 0 {
		return w.d.Compare(variants)
	}
	return w.d.SendCompare(w.words(), variants)
}

func (w *walk) mark() error {
	t, ok := w.any(turn.RoleAssistant)
	if !ok {
		return nil
	}
	if err := w.d.SetPinned(t.ID, w.rng.IntN(2) == 0); err != nil {
		return err
	}
	return w.d.SetLabel(t.ID, w.words())
}

// fork goes on with a copy of the line.
func (w *walk) fork() error {
	t, ok := w.any(turn.RoleAssistant)
	if !ok {
		return nil
	}
	settled(w.t, w.d)
	forks, err := w.room.workspace.Fork(w.d, t.ID, 1)
	if err != nil {
		return err
	}
	w.check() // of what was forked
	w.d, w.known = forks[0], map[turn.ID]string{}
	return nil
}

// goAnywhere makes any turn of the tree the head.
func (w *walk) goAnywhere() error {
	to := []turn.ID{0}
	for id := range w.known {
		to = append(to, id)
	}
	slices.Sort(to)
	return w.d.SetHead(to[w.rng.IntN(len(to))])
}

// check holds the conversation against the store and against the engine.
func (w *walk) check() {
	v := settled(w.t, w.d)
	if v.Err != nil && !slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(v.Err, r) }) { // of what was accepted after a stop
		w.t.Errorf("error %v", v.Err)
	}
	w.room.checkStates(v, -1)
	if len(v.Turns)+len(v.Ahead) == 0 {
		return
	}
	c, stored, err := w.room.store.Load(context.Background(), w.d.ID())
	must(w.t, err)
	j := newestJournal(w.t, w.room.store, w.d.ID())
	w.checkLine(v, c)
	if j != nil && len(j.Tokens) > 0 { // one without is of a kill between its beginning and its first token
		w.t.Errorf("a journal is left: %+v", j)
	}
	now := map[turn.ID]string{}
	for _, t := range stored {
		now[t.ID] = t.Text
	}
	for id, text := range w.known {
		if !strings.HasPrefix(now[id], text) {
			w.t.Errorf("turn %d was %q and is %q", id, text, now[id])
		}
	}
	for _, t := range slices.Concat(v.Turns, v.Ahead) {
		if now[t.ID] != t.Text {
			w.t.Errorf("turn %d shows %q and is stored as %q", t.ID, t.Text, now[t.ID])
		}
		var text tokenizer.Assembler
		spelt := strings.TrimPrefix(text.Push([]byte(decoded(w.room, t.Tokens))), " ")
		if t.Role == turn.RoleAssistant && spelt != t.Text {
			w.t.Errorf("turn %d shows %q and was read as %q", t.ID, t.Text, spelt)
		}
	}
	w.known = now
}

// checkLine says that what is shown is one line, with the stored head and tip on it.
func (w *walk) checkLine(v chat.View, stored turn.Conversation) {
	parent := turn.ID(0)
	for i, tn := range slices.Concat(v.Turns, v.Ahead) {
		if tn.Parent != parent {
			w.t.Errorf("turn %d is shown below turn %d and belongs to turn %d", tn.ID, parent, tn.Parent)
		}
		if parent = tn.ID; i == len(v.Turns)-1 && parent != stored.Head {
			w.t.Errorf("the head is turn %d and stored as %d", parent, stored.Head)
		}
	}
	if len(v.Turns) == 0 && stored.Head != 0 || parent != stored.Tip {
		w.t.Errorf("the line ends with turn %d; stored are head %d and tip %d", parent, stored.Head, stored.Tip)
	}
}

func (w *walk) reopen() error {
	if v := settled(w.t, w.d); len(v.Turns)+len(v.Ahead) == 0 {
		return nil
	}
	w.room.workspace.CloseDialogue(w.d)
	w.d = w.room.workspace.Open(w.d.ID())
	settled(w.t, w.d)
	return nil
}

// kill ends the program where it is and starts it again.
func (w *walk) kill() error {
	if v := w.d.View(); len(v.Turns)+len(v.Ahead) == 0 {
		return nil
	}
	until(w.t, w.d, "the first commit", func(v chat.View) bool { return v.Saved })
	w.room.kill()
	id := w.d.ID()
	w.start(w.room.store.Store)
	w.d = w.room.workspace.Open(id)
	settled(w.t, w.d)
	return nil
}

func (w *walk) loseSnapshots() error {
	lost := true
	w.room.store.replace(func(s *infer.Snapshot) (*infer.Snapshot, error) {
		if lost {
			return nil, nil
		}
		return s, nil
	})
	err := w.reopen()
	if err == nil {
		err = w.d.Retry()
	}
	settled(w.t, w.d)
	w.room.store.replace(nil)
	return err
}

// failWrites makes the store fail for a moment.
func (w *walk) failWrites() error {
	end := time.Now().Add(2 * time.Millisecond)
	w.room.store.set(func(op string) error {
		if time.Now().Before(end) {
			return errors.New("the disk is full")
		}
		return nil
	})
	return w.d.Send(w.words())
}
