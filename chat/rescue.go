package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"rookery/chat/transfer"
	"rookery/chat/turn"
)

// A watcher is a Store whose files another program can take away. AwaitLoss
// returns why that has happened, or nil when ctx has ended.
type watcher interface {
	AwaitLoss(ctx context.Context) error
}

// A rescue is where a workspace writes what it has when its store is lost.
type rescue struct {
	places []string // folders, the best first
	lost   error    // why the store cannot be relied on; nil: it can. Under the workspace's mu
	said   error    // the same for people, with where everything is
	gone   chan struct{}
}

// WatchStore looks after the store's files from here on. When they are lost,
// everything is written to a bundle in the first of places that takes it, at once
// and again when the workspace is closed, and Trouble says so.
func (k *Workspace) WatchStore(places ...string) {
	w, ok := k.store.(watcher)
	if !ok {
		return
	}
	k.rescue = rescue{places: places, gone: make(chan struct{})}
	go func() {
		defer close(k.rescue.gone)
		err := w.AwaitLoss(k.closing)
		if err == nil {
			return
		}
		k.mu.Lock()
		k.rescue.lost = err
		k.mu.Unlock()
		if k.closing.Err() == nil { // otherwise Close does
			k.saveElsewhere(k.ctx, nil)
		}
	}()
}

// Trouble says that the store was lost, and where everything is; nil if it is as
// it was.
func (k *Workspace) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rescue.said
}

// saveElsewhere writes everything to a bundle in a new place: what is open from
// memory, and the rest as far as the store still has it. closed are dialogues
// that are in memory, too.
func (k *Workspace) saveElsewhere(ctx context.Context, closed []*Dialogue) {
	name := "rookery-rescued-" + time.Now().Format("20060102-150405.000") + transfer.BundleExt
	var errs []error
	for _, place := range k.rescue.places {
		path := filepath.Join(place, name)
		n := 0
		err := transfer.WriteFile(path, func(w io.Writer) (err error) {
			n, err = k.writeEverything(ctx, w, closed)
			return err
		})
		if err == nil {
			k.tellTrouble(fmt.Errorf("%w; %d conversations are saved in %s: leave, and read it in with `rookery sessions import`", k.rescue.lost, n, path))
			return
		}
		errs = append(errs, err)
	}
	k.tellTrouble(fmt.Errorf("%w, and what is open cannot be saved elsewhere (%w): export it before you leave", k.rescue.lost, errors.Join(errs...)))
}

// closeRescue ends looking after the store's files, before that is closed, and
// says where everything is if they were lost. open are the dialogues that were open.
func (k *Workspace) closeRescue(ctx context.Context, open []*Dialogue) error {
	if k.rescue.gone == nil {
		return nil
	}
	<-k.rescue.gone
	if k.rescue.lost != nil { // nobody else is there any more
		k.saveElsewhere(ctx, open)
	}
	return k.Trouble()
}

func (k *Workspace) tellTrouble(said error) {
	k.mu.Lock()
	k.rescue.said = said
	k.mu.Unlock()
	k.signal()
}

// writeEverything writes a bundle and says how many conversations it has.
func (k *Workspace) writeEverything(ctx context.Context, w io.Writer, closed []*Dialogue) (n int, err error) {
	b := transfer.NewBundleWriter(w)
	k.mu.Lock()
	open := slices.Clone(closed)
	for _, d := range k.open {
		open = append(open, d)
	}
	k.mu.Unlock()
	have := map[turn.ID]bool{}
	for _, d := range open {
		t := d.wholeTree()
		if len(t.Turns) == 0 {
			continue
		}
		if err := b.Add(t); err != nil {
			return n, err
		}
		have[t.Conversation.ID] = true
		n++
	}
	list, err := k.store.Conversations(ctx)
	if err != nil {
		list = nil // what is open is all there is
	}
	for _, c := range list {
		if have[c.ID] || !c.Deleted.IsZero() {
			continue
		}
		t, err := transfer.LoadTree(ctx, k.store, c.ID, false)
		if err != nil || len(t.Turns) == 0 {
			continue // it is lost, and what can be read is not
		}
		if err := b.Add(t); err != nil {
			return n, err
		}
		n++
	}
	return n, b.Close()
}

// wholeTree is a dialogue's conversation with all its turns, as it is in memory.
func (d *Dialogue) wholeTree() turn.Tree {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := turn.Tree{Conversation: d.conv}
	for _, root := range d.tree.roots {
		for n := range d.tree.below(d.tree.nodes[root]) {
			t.Turns = append(t.Turns, n.turn)
		}
	}
	return t
}
