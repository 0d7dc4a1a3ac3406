package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rookery/chat/turn"
)

// CloseDialogue stops and saves a dialogue and forgets it; its conversation stays
// stored. It returns at once; Close waits for what is still being saved.
func (k *Workspace) CloseDialogue(d *Dialogue) {
	k.mu.Lock()
	if k.open[d.id] != d {
		k.mu.Unlock()
		return
	}
	delete(k.open, d.id)
	saved := make(chan struct{})
	k.leaving[d.id] = saved
	k.mu.Unlock()
	d.end()
	k.saving.Go(func() { k.leave(d, saved) })
	k.signal()
}

// leave waits until a shut dialogue is saved, or until Close gives up.
func (k *Workspace) leave(d *Dialogue, saved chan struct{}) {
	d.work.Wait()
	d.dismissed()
	err := d.saver.Flush(k.ctx)
	d.saver.Stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hasLeft(d.id, saved)
	if err != nil {
		k.unsaved = append(k.unsaved, fmt.Errorf("conversation %q is not saved: %w", d.View().Conversation.Title, err))
	}
}

// end stops the running answer and refuses everything from now on.
func (d *Dialogue) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.stop()
}

// dismissed lets the second models go of a dialogue whose answers have ended.
func (d *Dialogue) dismissed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.choice != nil {
		dismiss(d.choice.secondModels)
		d.choice.secondModels = nil
	}
}

// Delete removes a stored conversation, closing it if it is open. It blocks.
func (k *Workspace) Delete(ctx context.Context, id turn.ID) error {
	k.mu.Lock()
	d, leaving := k.open[id], k.leaving[id]
	delete(k.open, id)
	k.mu.Unlock()
	if d != nil {
		d.end()
		if err := wait(ctx, &d.work); err != nil {
			return fmt.Errorf("deleting conversation %d: %w", id, err)
		}
		d.dismissed()
		d.saver.Stop()
	}
	if leaving != nil {
		select {
		case <-leaving:
		case <-ctx.Done():
			return fmt.Errorf("deleting conversation %d: %w", id, ctx.Err())
		}
	}
	k.signal()
	if err := k.store.Delete(ctx, id); err != nil {
		return fmt.Errorf("deleting conversation %d: %w", id, err)
	}
	return nil
}

// lastWait is how long Close waits for answers to end when ctx is over.
const lastWait = 200 * time.Millisecond

// Close stops everything, saves it and closes the store. It blocks. When ctx
// ends before everything is saved, the error says what is not.
func (k *Workspace) Close(ctx context.Context) error {
	k.close()
	k.mu.Lock()
	open := make([]*Dialogue, 0, len(k.open))
	for _, d := range k.open {
		open = append(open, d)
	}
	k.mu.Unlock()
	for _, d := range open {
		k.CloseDialogue(d)
	}
	var errs []error
	if wait(ctx, &k.saving) != nil {
		k.cancel()
		last, cancel := context.WithTimeout(context.Background(), lastWait)
		defer cancel()
		if err := wait(last, &k.saving); err != nil {
			errs = append(errs, fmt.Errorf("an answer did not stop: %w", err))
		}
	}
	k.cancel()
	trouble := k.closeRescue(ctx, open)
	if err := k.secondModels.shut(); err != nil {
		errs = append(errs, err)
	}
	if err := k.saver.Flush(ctx); err != nil {
		errs = append(errs, fmt.Errorf("what is open is not saved: %w", err))
	}
	k.saver.Stop()
	if err := k.store.Close(); err != nil {
		errs = append(errs, fmt.Errorf("closing the store: %w", err))
	}
	if trouble != nil {
		return trouble // the rest follows from it
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.unsaved) > 0 {
		return errors.Join(k.unsaved...) // the rest follows from it
	}
	return errors.Join(errs...)
}
