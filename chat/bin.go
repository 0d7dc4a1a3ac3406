package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rookery/chat/turn"
)

// BinRetention is how long a conversation that was thrown away can be taken back.
const BinRetention = 30 * 24 * time.Hour

// binPatience is how long what is thrown away may take to be saved.
const binPatience = 5 * time.Second

// SetPinned puts a conversation before the others in the list, or back among
// them. Like all methods of this file it blocks, works for open and for
// stored conversations, and does not make them younger.
func (k *Workspace) SetPinned(ctx context.Context, id turn.ID, pinned bool) error {
	return k.alter(ctx, id, func(c *turn.Conversation) { c.Pinned = pinned })
}

// SetArchived takes a conversation out of the list, or puts it back.
func (k *Workspace) SetArchived(ctx context.Context, id turn.ID, archived bool) error {
	return k.alter(ctx, id, func(c *turn.Conversation) { c.Archived = archived })
}

// SetTitle names a conversation.
func (k *Workspace) SetTitle(ctx context.Context, id turn.ID, title string) error {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return errors.New("a title needs at least one character")
	}
	return k.alter(ctx, id, func(c *turn.Conversation) { c.Title, c.Named = title, true })
}

// RestoreFromBin takes a conversation out of the bin.
func (k *Workspace) RestoreFromBin(ctx context.Context, id turn.ID) error {
	return k.alter(ctx, id, func(c *turn.Conversation) { c.Deleted = time.Time{} })
}

// MoveToBin puts a conversation into the bin, from which it is removed for
// good after BinKeeps. One that is open is stopped, saved and closed.
func (k *Workspace) MoveToBin(ctx context.Context, id turn.ID) error {
	bin := func(c *turn.Conversation) { c.Deleted = time.Now() }
	k.mu.Lock()
	d := k.open[id]
	k.mu.Unlock()
	if d == nil {
		return k.alter(ctx, id, bin)
	}
	failed := d.alter(bin)
	k.CloseDialogue(d)
	if err := k.left(ctx, id); err != nil {
		return fmt.Errorf("throwing conversation %d away: %w; saving is tried again by itself", id, err)
	}
	if failed == nil {
		return nil
	}
	return k.alter(ctx, id, bin) // it could not be read; what is stored can be marked
}

// left waits until a conversation that was shut is saved.
func (k *Workspace) left(ctx context.Context, id turn.ID) error {
	ctx, cancel := context.WithTimeout(ctx, binPatience)
	defer cancel()
	k.mu.Lock()
	leaving := k.leaving[id]
	k.mu.Unlock()
	if leaving == nil {
		return nil
	}
	select {
	case <-leaving:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("it is not saved yet: %w", ctx.Err())
	}
}

// EmptyBin removes everything in the bin for good, and says how many
// conversations that were.
func (k *Workspace) EmptyBin(ctx context.Context) (int, error) { return k.purge(ctx, time.Now()) }

// purge removes for good what was thrown away before a moment.
func (k *Workspace) purge(ctx context.Context, before time.Time) (removed int, err error) {
	k.altering.Lock()
	defer k.altering.Unlock()
	list, err := k.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		if c.Deleted.IsZero() || c.Deleted.After(before) {
			continue
		}
		if err := k.Delete(ctx, c.ID); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// purgeOld empties the bin of what is too old, in the background. What fails
// is tried again at the next start.
func (k *Workspace) purgeOld() {
	k.saving.Go(func() { _, _ = k.purge(k.closing, time.Now().Add(-BinRetention)) })
}

// alter changes the data of a conversation, open or stored.
func (k *Workspace) alter(ctx context.Context, id turn.ID, change func(*turn.Conversation)) error {
	for {
		k.mu.Lock()
		d, leaving := k.open[id], k.leaving[id]
		if d == nil && leaving == nil {
			done := make(chan struct{})
			k.leaving[id] = done // who opens it now waits for what is stored
			k.mu.Unlock()
			err := k.alterStored(ctx, id, change)
			k.mu.Lock()
			k.hasLeft(id, done)
			k.mu.Unlock()
			return err
		}
		k.mu.Unlock()
		if d != nil {
			return d.alter(change)
		}
		select {
		case <-leaving:
		case <-ctx.Done():
			return fmt.Errorf("changing conversation %d: %w", id, ctx.Err())
		}
	}
}

// hasLeft lets go of a conversation that nobody may open. The caller holds mu.
func (k *Workspace) hasLeft(id turn.ID, done chan struct{}) {
	if k.leaving[id] == done {
		delete(k.leaving, id)
	}
	close(done)
}

func (k *Workspace) alterStored(ctx context.Context, id turn.ID, change func(*turn.Conversation)) error {
	k.altering.Lock()
	defer k.altering.Unlock()
	list, err := k.List(ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.ID != id {
			continue
		}
		change(&c)
		if err := k.store.SaveConversation(ctx, c); err != nil {
			return fmt.Errorf("changing conversation %q: %w", c.Title, err)
		}
		return nil
	}
	return fmt.Errorf("conversation %d is not stored any more", id)
}

// alter changes the conversation's data and saves it, once it has turns.
func (d *Dialogue) alter(change func(*turn.Conversation)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	change(&d.conv)
	if len(d.tree.nodes) > 0 {
		d.saver.SaveHead(d.conv)
	}
	d.publish()
	return nil
}
