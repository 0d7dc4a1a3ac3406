package chat

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/save"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// An Engine is what chat needs of infer.Engine.
type Engine interface {
	library.Engine
	Stats() infer.Stats
}

// Defaults are the settings of a new conversation. MaxTokens, Stops and what
// follows them hold for all conversations, from the next answer on.
type Defaults struct {
	System    string
	Preset    string          // "" chooses by model family
	Presets   []prompt.Preset // a person's own
	Sampling  *sampler.Params // overrides the preset
	Think     turn.ThinkMode
	MaxTokens int
	Stops     []string // nil: the model family's

	// StateSpecs say how conversations from a state of the library are spoken to, by
	// its name.
	StateSpecs map[string]prompt.Spec
	// ForceThought does not let a model end its thought before it has begun one.
	// ThoughtLimit is the longest thought in tokens, 0 is no limit: one that is
	// longer is ended, and the answer begins.
	ForceThought bool
	ThoughtLimit int

	// KeepThoughts lets later turns remember what a thinking model thought.
	// Without it they read its answers alone, as it was trained.
	KeepThoughts bool
	// KeepBlankLines leaves blank lines in what a person writes. A blank line
	// separates turns, so that they are removed otherwise; indentation stays.
	KeepBlankLines bool
}

// A Workspace is everything that is open. Its mutex may be taken under a
// dialogue's and never the other way round.
type Workspace struct {
	host
	secondModels secondModels
	store        turn.Store
	library      *library.Library
	saver        *save.Saver // of the layout
	memory       *save.MemoryTier
	changed      chan struct{} // 1 slot

	mu       sync.Mutex
	defaults Defaults
	open     map[turn.ID]*Dialogue
	casts    []unsavedVote             // votes that may not be saved yet
	leaving  map[turn.ID]chan struct{} // shut and still being saved, or being altered; closed when that is done

	rescue  rescue
	saving  sync.WaitGroup // shut dialogues
	unsaved []error        // of shut dialogues that Close gave up
	ctx     context.Context
	cancel  context.CancelFunc // ends the patience of saving

	altering sync.Mutex // held while stored conversations are altered or purged
	closing  context.Context
	close    context.CancelFunc // ends what runs in the background and need not be done now
}

// NewWorkspace starts a workspace. It owns store from here on.
func NewWorkspace(e Engine, store turn.Store, d Defaults) *Workspace {
	ctx, cancel := context.WithCancel(context.Background())
	memory := save.NewMemoryTier()
	closing, closeNow := context.WithCancel(ctx)
	return &Workspace{
		host: host{e, library.NewAdapterRegistry(e, store, nil, nil)}, secondModels: secondModels{loading: make(chan struct{}, 1)}, store: store, library: library.New(store, nil), saver: save.NewSaver(store, 0, memory, func() {}), memory: memory, changed: make(chan struct{}, 1),
		defaults: d, open: map[turn.ID]*Dialogue{}, leaving: map[turn.ID]chan struct{}{}, ctx: ctx, cancel: cancel,
		closing: closing, close: closeNow,
	}
}

// Changes has a value when any dialogue, or the set of them, has changed: a 1-slot signal for one reader.
func (k *Workspace) Changes() <-chan struct{} { return k.changed }

func (k *Workspace) signal() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// Engine is the engine in use.
func (k *Workspace) Engine() Engine { return k.engine }

// SetDefaults changes the settings of conversations made from now on.
func (k *Workspace) SetDefaults(d Defaults) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.defaults = d
}

func (k *Workspace) settings() Defaults {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.defaults
}

// stops end an answer of a model.
func (k *Workspace) stops(t prompt.Template) []string {
	if stops := k.settings().Stops; stops != nil {
		return stops
	}
	return t.Stops()
}

// New opens a new, empty conversation. It is stored with its first turn.
func (k *Workspace) New() *Dialogue { return k.add(k.blank()) }

// NewFrom opens a new, empty conversation that begins from a state of the
// library. A state of another model or shape is a *statefile.MismatchError.
func (k *Workspace) NewFrom(s turn.State) (*Dialogue, error) {
	d := k.blank()
	if err := d.SetBase(s); err != nil {
		d.saver.Stop()
		return nil, err
	}
	return k.add(d), nil
}

// blank is a dialogue with the settings of a new conversation.
func (k *Workspace) blank() *Dialogue { return k.blankAs(turn.NewID()) }

// reopenBlank opens a conversation that is not stored, or gives the dialogue that
// has it open.
func (k *Workspace) reopenBlank(id turn.ID) *Dialogue {
	k.mu.Lock()
	d := k.open[id]
	k.mu.Unlock()
	if d != nil {
		return d
	}
	return k.add(k.blankAs(id))
}

// blankAs is blank under an ID that it had before it was stored.
func (k *Workspace) blankAs(id turn.ID) *Dialogue {
	turn.Met(id)
	c := k.settings().Conversation(k.engine.Model())
	c.ID = id
	return newDialogue(k, c, false)
}

func (k *Workspace) add(d *Dialogue) *Dialogue {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[d.id] = d
	return d
}

// Open opens a stored conversation, or gives the dialogue that has it open.
// It returns at once; the view says Loading until it is read.
func (k *Workspace) Open(id turn.ID) *Dialogue {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.open[id]; d != nil {
		return d
	}
	d := newDialogue(k, turn.Conversation{ID: id, Created: id.Created()}, true)
	k.open[id] = d
	leaving := k.leaving[id]
	d.work.Go(func() { d.load(leaving) })
	return d
}

// load reads the conversation, once the dialogue that had it before has saved it.
func (d *Dialogue) load(leaving <-chan struct{}) {
	if leaving != nil {
		select {
		case <-leaving:
		case <-d.saver.Context().Done():
		}
	}
	c, turns, err := d.workspace.store.Load(d.saver.Context(), d.id)
	b := d.workspace.library.FindBase(d.saver.Context(), c.Base)
	adapter := d.workspace.adapters.FindTitle(d.saver.Context(), c.Adapter)
	var journals []turn.Journal
	if err == nil {
		journals, err = d.workspace.store.Journals(d.saver.Context(), d.id)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base, d.adapter = b, adapter
	if err == nil {
		err = d.install(c, turns, journals)
	}
	d.loading = false
	if err != nil {
		d.broken = fmt.Errorf("opening conversation %d: %w", d.id, err)
		d.err = d.broken
	}
	d.reline()
}

// Restore opens what was open last time, or one new conversation. It blocks.
// A conversation that cannot be read says so in its view.
func (k *Workspace) Restore(ctx context.Context) ([]*Dialogue, int, error) {
	layout, err := k.store.Layout(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("reading what was open: %w", err)
	}
	stored, err := k.List(ctx)
	if err != nil {
		return nil, 0, err
	}
	var open []*Dialogue
	active := 0
	drafts, err := k.Drafts(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i, id := range layout.Open {
		_, drafted := drafts[id]
		known := slices.ContainsFunc(stored, func(c turn.Conversation) bool { return c.ID == id })
		if drafted && !known { // nothing was sent yet, but something was written
			if i <= layout.Active {
				active = len(open)
			}
			open = append(open, k.reopenBlank(id))
			continue
		}
		if !slices.ContainsFunc(stored, func(c turn.Conversation) bool { return c.ID == id && c.Deleted.IsZero() }) {
			continue // it was never sent to, or has been thrown away
		}
		if i <= layout.Active {
			active = len(open)
		}
		open = append(open, k.Open(id))
	}
	if len(open) == 0 {
		open = append(open, k.New())
	}
	k.purgeOld()
	for _, d := range open {
		if err := wait(ctx, &d.work); err != nil {
			return nil, 0, fmt.Errorf("reading conversation %d: %w", d.id, err)
		}
	}
	return open, active, nil
}

// wait waits for a group while ctx lasts.
func wait(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SaveLayout remembers the open dialogues in order.
func (k *Workspace) SaveLayout(open []*Dialogue, active int) {
	l := turn.Layout{Active: active}
	for _, d := range open {
		l.Open = append(l.Open, d.id)
	}
	k.saver.SaveLayout(l)
}

// List returns the stored conversations. It blocks.
func (k *Workspace) List(ctx context.Context) ([]turn.Conversation, error) {
	list, err := k.store.Conversations(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing conversations: %w", err)
	}
	return list, nil
}

// Drafts are what was written in conversations and not sent. It blocks.
func (k *Workspace) Drafts(ctx context.Context) (map[turn.ID]turn.Draft, error) {
	drafts, err := k.store.Drafts(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what was being written: %w", err)
	}
	return drafts, nil
}

// SaveDraft keeps what is being written in a conversation, stored or not; the
// zero Draft is nothing.
func (k *Workspace) SaveDraft(conversation turn.ID, d turn.Draft) {
	k.saver.SaveDraft(conversation, d)
}

// AddHistory adds a prompt that was not sent to the history.
func (k *Workspace) AddHistory(prompt string) { k.saver.AddPrompt(prompt) }

// History returns the prompts sent, oldest first. It blocks.
func (k *Workspace) History(ctx context.Context) ([]string, error) {
	prompts, err := k.store.History(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the prompt history: %w", err)
	}
	return prompts, nil
}

// Memory says what the snapshots of all conversations take. It is cheap.
func (k *Workspace) Memory() save.Memory { return k.memory.Usage() }

// SetMemory changes how many bytes of snapshots are kept in memory.
func (k *Workspace) SetMemory(budget int64) { k.memory.SetBudget(max(budget, 0)) }
