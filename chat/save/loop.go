package save

import (
	"errors"
	"fmt"
	"time"

	"rookery/chat/turn"
)

// forever is the wait of a saver that has nothing to do.
const forever = time.Duration(-1)

// loop writes until the saver is stopped.
func (k *Saver) loop() {
	defer close(k.gone)
	retry := firstRetry
	for k.ctx.Err() == nil {
		wait, err := k.step()
		if err != nil {
			wait, retry = retry, min(2*retry, lastRetry)
		} else {
			retry = firstRetry
		}
		k.settle(err)
		k.sleep(wait, err != nil)
	}
}

// step does the first thing that is due and says how long the next can wait.
func (k *Saver) step() (wait time.Duration, err error) {
	k.mu.Lock()
	j, rest := k.dueJournal()
	if j != nil && j.begun { // states take long to write, and what runs does not wait for them
		k.mu.Unlock()
		if err := k.writeJournal(j); err != nil {
			return 0, errors.Join(err, k.writeFirst())
		}
		return 0, nil
	}
	switch {
	case len(k.commits) > 0:
		c := k.commits[0]
		k.mu.Unlock()
		return 0, k.writeCommit(c)
	case j != nil:
		k.mu.Unlock()
		return 0, k.beginJournal(j)
	case k.head != nil:
		head := k.head
		k.mu.Unlock()
		return 0, k.writeHead(head)
	case k.layout != nil:
		layout := k.layout
		k.mu.Unlock()
		return 0, k.writeLayout(layout)
	case len(k.drafts) > 0:
		id, draft := k.nextDraft()
		k.mu.Unlock()
		return 0, k.writeDraft(id, draft)
	case len(k.prompts) > 0:
		prompt := k.prompts[0]
		k.mu.Unlock()
		return 0, k.writePrompt(prompt)
	default:
		k.mu.Unlock()
		return rest, nil
	}
}

// writeFirst writes the first commit, if there is one, after a journal that
// cannot be written: the commit may be what makes it unnecessary.
func (k *Saver) writeFirst() error {
	k.mu.Lock()
	if len(k.commits) == 0 {
		k.mu.Unlock()
		return nil
	}
	c := k.commits[0]
	k.mu.Unlock()
	return k.writeCommit(c)
}

// dueJournal is one that is to be written now, otherwise one that is to be
// begun, or nil and how long that can wait. The caller holds mu.
func (k *Saver) dueJournal() (due *journal, rest time.Duration) {
	rest = forever
	for _, j := range k.journals {
		switch wait := journalEvery - time.Since(j.wrote); {
		case !j.begun && due == nil:
			due = j
		case !j.begun || len(j.tokens) == 0 && !j.amended:
		case wait <= 0:
			return j, 0
		case rest == forever || wait < rest:
			rest = wait
		}
	}
	return due, rest
}

// runQueued carries out an order.
func (k *Saver) runQueued(c commit) error {
	if err := c.do(k.ctx, k.store); err != nil {
		return fmt.Errorf("%s: %w", c.what, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.commits[0] = commit{}
	k.commits = k.commits[1:]
	return nil
}

func (k *Saver) writeCommit(c commit) error {
	if c.do != nil {
		return k.runQueued(c)
	}
	err := k.store.CommitTurn(k.ctx, c.conversation, c.turn, c.snapshot)
	if err != nil && c.snapshot != nil && k.ctx.Err() == nil {
		// The text is small beside the state, and a state can be made anew: the
		// disk may have room for the one and not for the other.
		if terr := k.store.CommitTurn(k.ctx, c.conversation, c.turn, nil); terr == nil && k.isUrgent() {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("saving a turn: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// It stays if a newer version came in meanwhile.
	if k.commits[0].serial == c.serial {
		k.forget(&k.commits[0])
		k.commits[0] = commit{}
		k.commits = k.commits[1:]
	}
	return nil
}

func (k *Saver) writeHead(head *turn.Conversation) error {
	if err := k.store.SaveConversation(k.ctx, *head); err != nil {
		return fmt.Errorf("saving the conversation: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.head == head {
		k.head = nil
	}
	return nil
}

func (k *Saver) writeLayout(l *turn.Layout) error {
	if err := k.store.SaveLayout(k.ctx, *l); err != nil {
		return fmt.Errorf("saving what is open: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.layout == l {
		k.layout = nil
	}
	return nil
}

// nextDraft is one that is to be written. The caller holds mu.
func (k *Saver) nextDraft() (id turn.ID, d turn.Draft) {
	for id, d = range k.drafts {
		break
	}
	return id, d
}

func (k *Saver) writeDraft(id turn.ID, d turn.Draft) error {
	if err := k.store.SaveDraft(k.ctx, id, d); err != nil {
		return fmt.Errorf("saving what is being written: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.drafts[id] == d { // it may have changed meanwhile
		delete(k.drafts, id)
	}
	return nil
}

func (k *Saver) writePrompt(prompt string) error {
	if err := k.store.AddHistory(k.ctx, prompt); err != nil {
		return fmt.Errorf("saving the prompt history: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prompts = k.prompts[1:]
	return nil
}

func (k *Saver) beginJournal(j *journal) error {
	t, _ := k.amended(j)
	if err := k.store.BeginJournal(k.ctx, k.id, t); err != nil {
		return fmt.Errorf("starting the journal of an answer: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	j.begun = true
	return nil
}

// amended is the turn of a journal as it is to be stored, and whether it has
// changed since it was.
func (k *Saver) amended(j *journal) (t turn.Turn, changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed, j.amended = j.amended, false
	return j.turn, changed
}

// writeJournal appends what has come. A journal that was superseded meanwhile
// is not missed.
func (k *Saver) writeJournal(j *journal) error {
	k.mu.Lock()
	tokens, text := j.tokens[:len(j.tokens):len(j.tokens)], string(j.text)
	j.wrote = time.Now()
	k.mu.Unlock()
	t, changed := k.amended(j)
	if changed {
		if err := k.store.AmendJournal(k.ctx, t); err != nil {
			k.mu.Lock()
			j.amended = true
			k.mu.Unlock()
			return fmt.Errorf("journaling an answer: %w", err)
		}
	}
	if len(tokens) == 0 && text == "" {
		return nil
	}
	if err := k.store.AppendJournal(k.ctx, t.ID, tokens, text); err != nil {
		return fmt.Errorf("journaling an answer: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	j.tokens, j.text = j.tokens[len(tokens):], j.text[len(text):]
	return nil
}

// settle records how a try went and tells who waits.
func (k *Saver) settle(err error) {
	k.mu.Lock()
	k.err = err
	changed := k.idleLocked() != k.seen.idle || err != nil || k.seen.failed
	if err != nil || k.empty() {
		k.urgent = false
		close(k.settled)
		k.settled = make(chan struct{})
	}
	k.mu.Unlock()
	if changed && k.ctx.Err() == nil {
		k.changed()
	}
}

// sleep waits for work or until wait is over. After a failure new work is no
// reason to try sooner, but someone who waits is.
func (k *Saver) sleep(wait time.Duration, failed bool) {
	if wait == 0 {
		return
	}
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-k.ctx.Done():
			return
		case <-due:
			return
		case <-k.wake:
			if !failed || k.isUrgent() {
				return
			}
		}
	}
}

func (k *Saver) isUrgent() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.urgent
}
