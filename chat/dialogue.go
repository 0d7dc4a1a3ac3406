package chat

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rookery/chat/library"
	"rookery/chat/save"
	"rookery/chat/turn"
	"rookery/infer"
)

// What an action is refused with. The text that was to be sent is still the caller's.
var (
	ErrBusy    = errors.New("an answer is running: stop it first")
	ErrLoading = errors.New("the conversation is still being read")
	ErrEmpty   = errors.New("there is nothing to send")
	ErrNothing = errors.New("there is no turn to go on from")
	ErrClosed  = errors.New("the conversation is closed")
)

// A Dialogue is one open conversation. Its methods are safe for concurrent
// use and never wait for the engine or the store.
type Dialogue struct {
	workspace *Workspace
	id        turn.ID
	view      atomic.Pointer[View]
	saver     *save.Saver

	mu      sync.Mutex
	conv    turn.Conversation
	base    library.Base // what conv.Base names
	adapter string       // what conv.Adapter names
	drawn   drawn
	form    compiledForm
	tree    tree
	run     *answer     // the running answer; of several the one that is shown
	choice  *choice     // several answers to one prompt, until they have ended and were chosen from
	next    func()      // accepted after Stop, to be done when the answer has ended
	scope   scope       // of the last looks at tokens
	turns   []turn.Turn // the visible line to the head; replaced, never changed
	undone  []turn.Turn // of the line, what is ahead of the head
	sibs    []Siblings
	visited map[turn.ID]visit // turns that were on the line
	stepped turn.ID           // the version that was chosen last, until the line changes otherwise
	version uint64
	err     error
	// replaces says that what a missing adapter has read may be read with the
	// one in use, see Reread.
	replaces bool
	loading  bool
	broken   error // why the conversation could not be read
	closed   bool
	work     sync.WaitGroup // the goroutines that read the store or follow an answer
}

// A View is a dialogue at one moment. It shares memory with the dialogue and
// must not be changed. Taking one is cheap at any length.
type View struct {
	Version      uint64 // grows with every change of anything in the view
	Conversation turn.Conversation
	Turns        []turn.Turn   // the line to the head, first to last, without a running answer
	Ahead        []turn.Turn   // what goes on behind the head: undone, and can be redone; none while an answer runs
	Siblings     []Siblings    // for each turn of Turns, then of Ahead
	Base         string        // name of the state that it begins from; "" for the zero state
	Adapter      string        // name of the adapter in use; "" for none
	Live         *Live         // the answer being generated, or nil
	Alternatives []Alternative // the answers to one prompt that wait for Keep; Live is one of them while any runs
	Stepped      turn.ID       // the version that SwitchSibling has chosen, until the line changes otherwise
	Err          error         // the last failure, until the next action; one of the store, until it is mended
	Loading      bool          // still being read from the store
	Saved        bool          // everything is on disk, the last moments of a running answer aside
}

// Siblings says which of how many alternatives a turn is, from 1.
type Siblings struct{ N, Of int }

// Live is a running answer.
type Live struct {
	Turn     turn.Turn // as begun; ID is final
	Text     string    // so far; grows by appending only
	Progress infer.Progress
	Started  time.Time
	Drawn    []infer.Token // since it was begun or went on; grows by appending only
	Swapped  string        // the model that the line was made with, when it is read again for the one that runs now
	// Replaced is an adapter that is not there any more, when what it has read
	// is read again with the one in use.
	Replaced string
}

// newDialogue is one without turns, or one that is loading them.
func newDialogue(k *Workspace, c turn.Conversation, loading bool) *Dialogue {
	d := &Dialogue{workspace: k, id: c.ID, conv: c, tree: newTree(k.memory), visited: map[turn.ID]visit{}, loading: loading}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saver = save.NewSaver(k.store, c.ID, k.memory, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.publish()
	})
	d.reline()
	return d
}

// ID is the conversation's.
func (d *Dialogue) ID() turn.ID { return d.id }

// View returns the dialogue as it is now.
func (d *Dialogue) View() View { return *d.view.Load() }

// publish makes the view what the dialogue is. The caller holds mu.
func (d *Dialogue) publish() {
	d.version++
	v := &View{
		Version: d.version, Conversation: d.conv, Turns: d.turns, Ahead: d.undone, Siblings: d.sibs, Base: d.base.Name, Adapter: d.adapter,
		Err: d.err, Loading: d.loading, Stepped: d.stepped,
	}
	v.Conversation.Head = d.shown()
	var failed error
	v.Saved, failed = d.saver.Idle()
	if v.Err == nil && failed != nil {
		v.Err = fmt.Errorf("%w; saving is tried again by itself", failed)
	}
	if d.run != nil {
		v.Live = d.run.live()
		v.Saved = v.Saved && !d.run.unsaved
	}
	v.Alternatives = d.rows()
	d.view.Store(v)
	d.workspace.signal()
}

// shown is the turn that the conversation goes on from, or that the running
// answer answers.
func (d *Dialogue) shown() turn.ID {
	if d.run != nil {
		return d.run.turn.Parent
	}
	return d.conv.Head
}

// reline makes the visible line anew and publishes it. The caller holds mu.
func (d *Dialogue) reline() {
	line := d.tree.line(d.shown())
	behind := len(line)
	if d.run == nil {
		line = slices.Concat(line, d.tree.ahead(d.conv.Head, d.conv.Tip))
	}
	turns := make([]turn.Turn, len(line))
	d.sibs = make([]Siblings, len(line))
	for i, n := range line {
		turns[i] = n.turn
		all := d.tree.siblings(n.turn)
		at, _ := slices.BinarySearch(all, n.turn.ID)
		d.sibs[i] = Siblings{N: at + 1, Of: len(all)}
		if d.run == nil {
			d.visited[n.turn.ID] = visit{d.conv.Tip, d.conv.Tip}
		}
	}
	d.turns, d.undone = turns[:behind:behind], turns[behind:]
	d.publish()
}
