package sessions

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

const (
	tortureOpen  = 3                // conversations open at once
	tortureMost  = 6                // conversations; more are deleted
	tortureTurns = 24               // on a line; longer ones are left alone
	tortureStep  = time.Millisecond // of the model; in patient lives five times that
)

// tortureDefaults make answers that depend on every token read and on the
// seed: some dozens of tokens in most lives, and some hundreds in others.
func tortureDefaults(seed uint64) chat.Defaults {
	most := 48
	if patient(seed) {
		most = 800
	}
	return chat.Defaults{
		Sampling:  &sampler.Params{Temperature: 1.5, TopP: 1, Presence: 0.5, Frequency: 0.1, Decay: 0.99},
		MaxTokens: most, Stops: []string{"eq", "\n\n"}, System: "Be a rook.",
	}
}

func tortureModel() *infer.Model {
	m := scripted.Model()
	return scripted.ModelWith("rookery-demo", m.Tokenizer, m.Shape.Vocab)
}

func tortureEngine(step time.Duration) *infer.Engine {
	m := tortureModel()
	o := scripted.Options{Slots: 8}
	if step > 0 {
		o.Before = scripted.Slow(step)
	}
	return infer.NewEngine(m, scripted.NewAdapted(m, o), infer.Options{})
}

// tortureDesk is what the victim has, and the inquest.
func tortureDesk(e *infer.Engine, s *Store, seed uint64) *chat.Workspace {
	workspace := chat.NewWorkspace(e, s, tortureDefaults(seed))
	workspace.UseAdapters(scripted.OpenAdapter, scripted.Adapters)
	return workspace
}

// patient lives let answers run for long.
func patient(seed uint64) bool { return seed%4 == 3 }

// A victim does anything with a store until it is killed, and says what it
// does and what it was told is saved. Its words, one line each:
//
//	+PHASE, -PHASE                begins and ends something
//	!CONVERSATION ERROR           is what it shows
//	act CONVERSATION              is about to change it
//	turn CONVERSATION TURN BYTES SUM    saved, with the checksum of its text
//	head CONVERSATION HEAD TIP ADAPTER    everything of the conversation is
//	                              saved; the adapter as its checksum
//	live CONVERSATION TURN BYTES TIME LATE   so much of a running answer is
//	                              seen; and by how much it looked, or the disk
//	                              wrote, too late
//	dropped CONVERSATION TURN     may be removed from now on
//	forked CONVERSATION TURNS     may be there from now on, with so many turns
//	gone CONVERSATION             may be deleted from now on
//	coming CONVERSATION TURNS     may be there again, with so many turns
//	arrived CONVERSATION          is there again
//	baked STATE, unbaked STATE    is in the library; may be removed from it
type victim struct {
	store     *Store
	workspace *chat.Workspace
	rng       *rand.Rand

	mu    sync.Mutex
	open  []*chat.Dialogue
	said  map[turn.ID]string // turns as last said
	heads map[turn.ID]string // and heads, until something is done to them
	doing map[turn.ID]bool   // to which something is being done

	late    time.Duration // the longest that the watch slept too long, or the disk wrote, in a second
	latest  time.Time     // when that was
	writing time.Time     // since when the disk writes; zero: it does not
}

// tortured is the child's main function.
func tortured(dir string, seed uint64) error {
	ctx := context.Background()
	shout("+open")
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	shout("-open")
	step := tortureStep
	if patient(seed) {
		step *= 5
	}
	v := &victim{
		store: s, workspace: tortureDesk(tortureEngine(step), s, seed),
		rng: rand.New(rand.NewPCG(seed, 7)), said: map[turn.ID]string{}, heads: map[turn.ID]string{}, doing: map[turn.ID]bool{},
	}
	v.workspace.SetMemory(1 << 16) // most states have to come from the disk
	stored, err := v.workspace.List(ctx)
	if err != nil {
		return err
	}
	for _, c := range stored[:min(len(stored), tortureOpen)] {
		v.open = append(v.open, v.workspace.Open(c.ID))
	}
	for len(v.open) < tortureOpen {
		v.open = append(v.open, v.workspace.New())
	}
	go v.watch()
	go v.disk(dir + ".probe")
	for {
		if err := v.act(ctx); err != nil {
			return err
		}
		pause := 8
		if patient(seed) {
			pause = 120
		}
		time.Sleep(time.Duration(v.rng.IntN(pause)) * time.Millisecond)
	}
}

func shout(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// phase says that something runs.
func phase(name string, do func() error) error {
	shout("+%s", name)
	err := do()
	shout("-%s", name)
	return err
}

// act does one thing.
func (v *victim) act(ctx context.Context) error {
	at := v.rng.IntN(len(v.open))
	d := v.open[at]
	id, view := d.ID(), d.View()
	if view.Loading {
		return nil
	}
	long := len(view.Turns)+len(view.Ahead) > tortureTurns
	v.about(id)
	defer v.done()
	var err error
	switch n := v.rng.IntN(155); {
	case n < 25:
		if long {
			return v.replace(ctx, at, v.workspace.New())
		}
		err = d.Send(v.words())
	case n < 33:
		err = d.Retry()
	case n < 39:
		err = d.EditLast(v.words())
	case n < 47 && len(view.Turns) > 0 && view.Turns[len(view.Turns)-1].Open:
		err = d.Continue()
	case n < 53:
		d.Stop()
	case n < 60:
		err = phase("undo", d.Undo)
	case n < 65:
		err = phase("redo", d.Redo)
	case n < 70 && len(view.Turns) > 0:
		turnID := view.Turns[v.rng.IntN(len(view.Turns))].ID
		err = phase("sibling", func() error { return d.SwitchSibling(turnID, v.rng.IntN(3)-1) })
	case n < 75 && len(view.Turns) > 0:
		turnID := view.Turns[v.rng.IntN(len(view.Turns))].ID
		err = phase("go", func() error { return d.SetHead(turnID) })
	case n < 78:
		err = d.SetTitle(v.words())
	case n < 84:
		err = phase("thin", v.thin(ctx))
	case n < 88:
		err = phase("checkpoint", func() error {
			_, err := v.store.read.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
			return err
		})
	case n < 92:
		return v.reopen(ctx, at)
	case n < 95:
		return v.delete(ctx, at)
	case n < 97:
		err = phase("search", func() error { _, err := v.store.Search(ctx, "rook", 10); return err })
	case n < 112:
		err = v.others(ctx, at)
	case n < 127:
		err = phase("adapt", func() error { return v.adapt(ctx, d) })
	case !long:
		err = v.grow(ctx, at)
	}
	return excuse(err)
}

// about says that a conversation is about to be changed: what was said of its
// head does not hold from here on.
func (v *victim) about(id turn.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.heads, id)
	v.doing[id] = true
	shout("act %d", id)
}

// done says that what was begun has been done.
func (v *victim) done() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.doing)
}

// excuse lets pass what is refused rightly.
func excuse(err error) error {
	for _, text := range []string{"no answers to choose from", "is not in this conversation"} { // a row that had nothing is gone
		if err != nil && strings.Contains(err.Error(), text) {
			return nil
		}
	}
	for _, ok := range []error{chat.ErrBusy, chat.ErrNothing, chat.ErrNothingToUndo, chat.ErrNothingToRedo, chat.ErrLoading, chat.ErrClosed} {
		if errors.Is(err, ok) {
			return nil
		}
	}
	return err
}

func (v *victim) words() string {
	var b strings.Builder
	for range 1 + v.rng.IntN(5) {
		b.WriteString([]string{"rook ", "the nest\n", "你好 ", "a day and ", "why "}[v.rng.IntN(5)])
	}
	return b.String() + "?"
}

// thin applies a budget that is much too small, and then none.
func (v *victim) thin(ctx context.Context) func() error {
	budget := int64(v.rng.IntN(1 << 17))
	return func() error {
		v.store.SetRetention(Retention{Budget: budget})
		defer v.store.SetRetention(Retention{Budget: NoBudget})
		return v.store.retain(ctx)
	}
}

// replace opens another conversation in the place of one.
func (v *victim) replace(ctx context.Context, at int, d *chat.Dialogue) error {
	v.mu.Lock()
	old := v.open[at]
	v.open[at] = d
	v.mu.Unlock()
	v.workspace.CloseDialogue(old)
	stored, err := v.workspace.List(ctx)
	if err != nil || len(stored) <= tortureMost {
		return err
	}
	for _, c := range stored[tortureMost:] {
		if !v.has(c.ID) {
			shout("gone %d", c.ID)
			if err := phase("delete", func() error { return v.workspace.Delete(ctx, c.ID) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *victim) has(id turn.ID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, d := range v.open {
		if d.ID() == id {
			return true
		}
	}
	return false
}

// reopen shuts a conversation and opens any one that is stored.
func (v *victim) reopen(ctx context.Context, at int) error {
	stored, err := v.workspace.List(ctx)
	if err != nil || len(stored) == 0 {
		return err
	}
	id := stored[v.rng.IntN(len(stored))].ID
	if v.has(id) {
		return nil
	}
	return v.replace(ctx, at, v.workspace.Open(id))
}

// delete deletes one that is open, in the middle of whatever it does.
func (v *victim) delete(ctx context.Context, at int) error {
	id := v.open[at].ID()
	shout("gone %d", id)
	err := phase("delete", func() error { return v.workspace.Delete(ctx, id) })
	if err != nil && !strings.Contains(err.Error(), "there is no conversation") {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open[at] = v.workspace.New()
	return nil
}

// watch says what is seen and what is saved.
func (v *victim) watch() {
	streaming, saving := false, false
	var slept time.Time
	for ; ; time.Sleep(time.Millisecond) {
		v.mu.Lock()
		if !slept.IsZero() {
			v.wait(time.Since(slept) - time.Millisecond)
		}
		if !v.writing.IsZero() {
			v.wait(time.Since(v.writing))
		}
		live, unsaved := false, false
		for _, d := range v.open {
			view := d.View()
			live = live || view.Live != nil
			unsaved = unsaved || !view.Saved
			v.tell(view)
		}
		slept = time.Now()
		v.mu.Unlock()
		tellPhase("stream", &streaming, live)
		tellPhase("save", &saving, unsaved)
	}
}

// wait notes how long something took. The caller holds mu.
func (v *victim) wait(late time.Duration) {
	if now := time.Now(); late > v.late || now.Sub(v.latest) > time.Second {
		v.late, v.latest = late, now
	}
}

// disk writes beside the store: where that takes long, so do journals.
func (v *victim) disk(path string) {
	const often = 20 * time.Millisecond
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	for ; ; time.Sleep(often) {
		v.mu.Lock()
		v.writing = time.Now()
		v.mu.Unlock()
		if _, err := file.WriteAt([]byte(path), 0); err != nil {
			panic(err)
		}
		if err := file.Sync(); err != nil {
			panic(err)
		}
		v.mu.Lock()
		v.wait(time.Since(v.writing))
		v.writing = time.Time{}
		v.mu.Unlock()
	}
}

func tellPhase(name string, was *bool, is bool) {
	if *was != is {
		shout("%c%s", map[bool]rune{true: '+', false: '-'}[is], name)
		*was = is
	}
}

// tell says what is new in a view. The caller holds mu.
func (v *victim) tell(view chat.View) {
	c := view.Conversation
	if view.Err != nil {
		shout("!%d %q", c.ID, view.Err)
	}
	live, now := 0, time.Now().UnixMicro()
	see := func(l chat.Live) {
		if live++; len(l.Text) > len(l.Turn.Text) { // a new version of an answer that goes on begins with what that has
			shout("live %d %d %d %d %d", c.ID, l.Turn.ID, len(l.Text), now, v.late.Microseconds())
		}
	}
	for _, row := range view.Alternatives {
		if !row.Ended {
			see(row.Live)
		}
	}
	if view.Live != nil && len(view.Alternatives) == 0 {
		see(*view.Live)
	}
	if !view.Saved || view.Loading {
		return
	}
	for _, t := range append(append([]turn.Turn(nil), view.Turns...), view.Ahead...) {
		line := fmt.Sprintf("turn %d %d %d %d", c.ID, t.ID, len(t.Text), sumOf(t.Text))
		if v.said[t.ID] != line {
			v.said[t.ID] = line
			shout("%s", line)
		}
	}
	if live == 0 && view.Live == nil && !v.doing[c.ID] && len(view.Turns)+len(view.Ahead) > 0 {
		line := fmt.Sprintf("head %d %d %d %d", c.ID, c.Head, c.Tip, sumOf(c.Adapter))
		if v.heads[c.ID] != line {
			v.heads[c.ID] = line
			shout("%s", line)
		}
	}
}

func sumOf(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
