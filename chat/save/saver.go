package save

import (
	"context"
	"slices"
	"sync"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

const (
	// journalEvery is from the beginning of one write to that of the next. A
	// crash loses what came since the last one began, and may come while one is
	// under way: with this, at most 100 ms of an answer.
	journalEvery = 50 * time.Millisecond
	firstRetry   = 250 * time.Millisecond
	lastRetry    = 10 * time.Second

	// unsavedSnapshots bounds the memory of a conversation that cannot be
	// saved: older turns wait without their snapshots, which costs a replay. A
	// prompt and eight answers that end together fit.
	unsavedSnapshots = 9
)

// A Saver saves one conversation from its own goroutine, so that neither the
// user interface nor a running answer ever waits for the disk. It remembers
// what is to be saved rather than which calls to make: what is superseded
// before its turn comes is never written, and a failed write is tried again,
// later and later, with whatever is newest then.
type Saver struct {
	store   turn.Store
	memory  *MemoryTier // told of the snapshots that wait
	id      turn.ID     // the conversation's; 0: the workspace's, for the layout alone
	changed func()      // called without locks when idle would say something new

	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // 1 slot
	gone   chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	commits  []commit // parents before children
	head     *turn.Conversation
	layout   *turn.Layout
	drafts   map[turn.ID]turn.Draft // by conversation; the zero Draft is to be taken away
	prompts  []string
	journals []*journal // of running answers
	serial   uint64
	err      error
	seen     struct { // what idle last said
		idle, failed bool
	}
	urgent  bool          // someone waits: no pause before the next try
	settled chan struct{} // closed and replaced when all is saved or a try failed
}

// A commit is a turn to be saved with the conversation as it was then, so
// that a saved head never points at a turn that is not; or an order, something
// else that must happen between the turns saved before it and those after.
type commit struct {
	serial       uint64
	conversation turn.Conversation
	turn         turn.Turn
	snapshot     *infer.Snapshot

	what string // of an order, for its error
	do   func(context.Context, turn.Store) error
	of   map[turn.ID]turn.ID // turns that the order copies: the new ID to the old
}

// A journal is what a running answer has that is not in the store yet.
type journal struct {
	turn  turn.Turn
	begun bool
	// amended says that the store does not know all of turn yet.
	amended bool
	tokens  []int32
	text    []byte
	wrote   time.Time // when it last began to be
}

// NewSaver starts the saver of a conversation, or of the workspace with id 0. It
// calls changed when what is unsaved changes.
func NewSaver(store turn.Store, id turn.ID, memory *MemoryTier, changed func()) *Saver {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Saver{
		store: store, memory: memory, id: id, changed: changed, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), gone: make(chan struct{}), settled: make(chan struct{}),
	}
	k.seen.idle = true
	go k.loop()
	return k
}

// Commit saves a turn, with its snapshot if there is one, and the
// conversation. It supersedes the turn's journal.
func (k *Saver) Commit(c turn.Conversation, t turn.Turn, s *infer.Snapshot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.serial++
	next := commit{serial: k.serial, conversation: c, turn: t, snapshot: s}
	k.head = nil // what was to be saved is older than c
	k.forgetJournal(t.ID)
	k.signal()
	if s != nil {
		k.memory.wait(t.ID, 1)
	}
	for i := range k.commits {
		if k.commits[i].do == nil && k.commits[i].turn.ID == t.ID {
			k.forget(&k.commits[i])
			k.commits[i] = next
			return
		}
	}
	k.commits = append(k.commits, next)
	if old := len(k.commits) - 1 - unsavedSnapshots; old >= 0 {
		k.forget(&k.commits[old])
	}
}

// forget lets a snapshot go that waits no more. The caller holds mu.
func (k *Saver) forget(c *commit) {
	if c.snapshot != nil {
		k.memory.wait(c.turn.ID, -1)
		c.snapshot = nil
	}
}

// Queue queues something to be done after all commits so far.
func (k *Saver) Queue(what string, of map[turn.ID]turn.ID, do func(context.Context, turn.Store) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.serial++
	k.head = nil // what is to be done comes with the conversation as it is
	k.commits = append(k.commits, commit{serial: k.serial, what: what, do: do, of: of})
	k.signal()
}

// SaveHead saves the conversation's head data.
func (k *Saver) SaveHead(c turn.Conversation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.head = &c
	k.signal()
}

// SaveLayout saves what is open.
func (k *Saver) SaveLayout(l turn.Layout) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.layout = &l
	k.signal()
}

// SaveDraft saves what is being written in a conversation.
func (k *Saver) SaveDraft(conversation turn.ID, d turn.Draft) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.drafts == nil {
		k.drafts = map[turn.ID]turn.Draft{}
	}
	k.drafts[conversation] = d
	k.signal()
}

// AddPrompt saves a prompt for the composer's history.
func (k *Saver) AddPrompt(prompt string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prompts = append(k.prompts, prompt)
	k.signal()
}

// BeginJournal starts the journal of an answer with what it has.
func (k *Saver) BeginJournal(t turn.Turn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetJournal(t.ID)
	k.journals = append(k.journals, &journal{turn: t, tokens: slices.Clone(t.Tokens), text: []byte(t.Text)})
	k.signal()
}

// AmendJournal changes what the journal of an answer says of how it was read.
func (k *Saver) AmendJournal(t turn.Turn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, j := range k.journals {
		if j.turn.ID == t.ID {
			j.turn, j.amended = t, true
		}
	}
	k.signal()
}

// AppendJournal adds to the journal of an answer that was begun.
func (k *Saver) AppendJournal(id turn.ID, tokens []infer.Token, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, j := range k.journals {
		if j.turn.ID != id {
			continue
		}
		for _, t := range tokens {
			j.tokens = append(j.tokens, t.ID)
		}
		j.text = append(j.text, text...)
	}
	k.signal()
}

// DropJournal forgets the journal of an answer that is not kept.
func (k *Saver) DropJournal(id turn.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetJournal(id)
}

// forgetJournal is for an answer that has ended. The caller holds mu.
func (k *Saver) forgetJournal(id turn.ID) {
	k.journals = slices.DeleteFunc(k.journals, func(j *journal) bool { return j.turn.ID == id })
}

// Pending is the snapshot of a turn that waits to be saved; ok is false if it
// is none or none waits.
func (k *Saver) Pending(id turn.ID) (s *infer.Snapshot, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.commits {
		if c.do == nil && c.turn.ID == id {
			return c.snapshot, true
		}
	}
	return nil, false
}

// Snapshot is a turn's as it will be when everything is saved.
func (k *Saver) Snapshot(ctx context.Context, id turn.ID) (*infer.Snapshot, error) {
	if s, ok := k.Pending(id); ok {
		return s, nil
	}
	return k.store.Snapshot(ctx, k.Origin(id))
}

// Origin is the turn whose snapshot the store has for a copy that waits to be
// saved, or the turn itself.
func (k *Saver) Origin(id turn.ID) turn.ID {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.commits {
		if of, copied := c.of[id]; copied {
			return of
		}
	}
	return id
}

// Idle says that everything is on disk, a running answer's last moments
// aside; err is the failure that keeps it from being so.
func (k *Saver) Idle() (idle bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen.idle, k.seen.failed = k.idleLocked(), k.err != nil
	return k.seen.idle, k.err
}

func (k *Saver) idleLocked() bool {
	return k.err == nil && len(k.commits) == 0 && k.head == nil && k.layout == nil && len(k.prompts) == 0 && len(k.drafts) == 0
}

// Flush waits until everything is saved, trying again while ctx lasts.
func (k *Saver) Flush(ctx context.Context) error {
	for pause := time.Duration(0); ; pause = firstRetry {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		k.mu.Lock()
		if k.empty() {
			k.mu.Unlock()
			return nil
		}
		settled := k.settled
		k.urgent = true
		k.signal()
		k.mu.Unlock()
		select {
		case <-settled:
		case <-k.gone:
			return context.Canceled
		case <-ctx.Done():
			if _, err := k.Idle(); err != nil {
				return err // says more than that the time is over
			}
			return ctx.Err()
		}
	}
}

// Await waits until something that was ordered is done, or cannot be done now.
func (k *Saver) Await(ctx context.Context, done <-chan struct{}) {
	k.mu.Lock()
	settled, failed := k.settled, k.err != nil
	k.mu.Unlock()
	if failed {
		return
	}
	select {
	case <-done:
	case <-settled:
	case <-k.gone:
	case <-ctx.Done():
	}
}

// Context ends when the saver is stopped.
func (k *Saver) Context() context.Context { return k.ctx }

// Stop ends the goroutine; what is not saved is forgotten.
func (k *Saver) Stop() {
	k.cancel()
	<-k.gone
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.commits {
		k.forget(&k.commits[i])
	}
}

// empty says that there is nothing to save, not even a journal.
func (k *Saver) empty() bool {
	return len(k.commits) == 0 && k.head == nil && k.layout == nil && len(k.prompts) == 0 && len(k.drafts) == 0 && len(k.journals) == 0
}

func (k *Saver) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}
