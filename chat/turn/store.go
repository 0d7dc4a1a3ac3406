package turn

import (
	"context"

	"rookery/infer"
)

// A Store keeps conversations. Implementations are safe for concurrent use;
// methods block on I/O and are never called from a user interface's update
// loop. Errors are one clear line with a way out.
type Store interface {
	// Conversations lists all, newest Updated first.
	Conversations(ctx context.Context) ([]Conversation, error)
	// Load returns a conversation and all its turns, parents before children.
	Load(ctx context.Context, id ID) (Conversation, []Turn, error)
	// SaveConversation inserts or updates the head data.
	SaveConversation(ctx context.Context, c Conversation) error
	// CommitTurn saves a turn, its snapshot (may be nil) and the conversation
	// (head, title) in one transaction, and deletes the turn's journal. A turn
	// that exists is replaced. A nil snapshot removes one that was kept.
	CommitTurn(ctx context.Context, c Conversation, t Turn, s *infer.Snapshot) error
	// Snapshot returns that of a turn; nil, nil if none is kept.
	Snapshot(ctx context.Context, turnID ID) (*infer.Snapshot, error)
	// BeginJournal starts the journal of an answer: its parent turn is saved;
	// t has ID, Parent, Role, Sampling, Model, Created, and what it is made with
	// (Base, Adapter, Mix, History, Edited). The turn may exist: an
	// answer that is being continued. A journal always holds the whole answer,
	// so that what it had is appended first. The turn itself stays as it is
	// until CommitTurn. A journal that exists is emptied.
	BeginJournal(ctx context.Context, conversation ID, t Turn) error
	// AmendJournal changes, of a journal that exists, with which adapters the
	// answer was read (Adapter, AdapterID, History). What it holds stays.
	AmendJournal(ctx context.Context, t Turn) error
	// Journals are those of all answers that a crash interrupted, oldest first:
	// of several answers to one prompt each has its own.
	Journals(ctx context.Context, conversation ID) ([]Journal, error)
	// AppendJournal adds generated tokens and the text they gave; called at most every 50 ms or so.
	AppendJournal(ctx context.Context, turnID ID, tokens []int32, text string) error
	// Search finds turns, and titles with Turn 0, that hold all words of a
	// text, the best first; not those of conversations that were thrown away.
	Search(ctx context.Context, query string, limit int) ([]SearchHit, error)
	// Import saves whole conversations in one transaction: all or none. What
	// fails a state's Read fails all. It replaces nothing: a conversation or a
	// turn whose id is in use is a *TakenError.
	Import(ctx context.Context, trees []Tree) error
	// CopyTurns saves a conversation with turns, parents before children, that
	// are copies of others, and copies the snapshots of those: turns[i] of the
	// turn of[i], unless that has changed since. It is one transaction.
	CopyTurns(ctx context.Context, c Conversation, turns []Turn, of []ID) error
	// DropTurns removes turns that have none below them, with their snapshots
	// and journals, and saves the conversation, in one transaction. Turns that
	// are not there are no error.
	DropTurns(ctx context.Context, c Conversation, turns []ID) error
	// MarkTurn saves label and pin of a turn and leaves the rest of it alone.
	// One that is not there is no error.
	MarkTurn(ctx context.Context, turnID ID, label string, pinned bool) error
	// Adapters lists those that were used, SaveAdapter remembers one or what
	// has changed about it, and ForgetAdapter forgets one.
	Adapters(ctx context.Context) ([]Adapter, error)
	SaveAdapter(ctx context.Context, a Adapter) error
	ForgetAdapter(ctx context.Context, fingerprint string) error
	// Mixes lists those that were saved under a name, the one used last first;
	// SaveMix keeps one and replaces another of its name, and DeleteMix forgets
	// one. A name that is not there is no error.
	Mixes(ctx context.Context) ([]NamedMix, error)
	SaveMix(ctx context.Context, m NamedMix) error
	DeleteMix(ctx context.Context, name string) error
	// Votes lists what people thought of compared answers, oldest first, and
	// AddVote remembers one more.
	Votes(ctx context.Context) ([]Vote, error)
	AddVote(ctx context.Context, v Vote) error
	// Delete removes a conversation and everything of it.
	Delete(ctx context.Context, id ID) error
	// Layout and SaveLayout keep which conversations are open in which order.
	Layout(ctx context.Context) (Layout, error)
	SaveLayout(ctx context.Context, l Layout) error
	// Drafts and SaveDraft keep what was written in tabs and not sent. The
	// conversation may not be stored; the zero Draft takes one away.
	Drafts(ctx context.Context) (map[ID]Draft, error)
	SaveDraft(ctx context.Context, conversation ID, d Draft) error
	// History and AddHistory keep the prompts sent, oldest first, at most a few thousand.
	History(ctx context.Context) ([]string, error)
	AddHistory(ctx context.Context, prompt string) error
	// States lists the library by name, without what the states hold: Tokens
	// and Snapshot are nil.
	States(ctx context.Context) ([]State, error)
	// State returns one of the library with all that belongs to it. A missing
	// one is fs.ErrNotExist.
	State(ctx context.Context, id ID) (State, error)
	// SaveState adds a state to the library. A name that another one has is
	// ErrNameTaken.
	SaveState(ctx context.Context, s State) error
	// RenameState changes a state's name, with the errors of State and SaveState.
	RenameState(ctx context.Context, id ID, name string) error
	// DeleteState removes a state. One that conversations begin from or mix,
	// deleted ones in the bin among them, or that a saved mix has, stays and is
	// an *InUseError.
	DeleteState(ctx context.Context, id ID) error
	Close() error
}

// A Journal is an unfinished answer: the turn as begun, and what was generated since.
type Journal struct {
	Turn   Turn
	Tokens []int32
	Text   string
}

// A Layout is the open tabs from left to right and the index of the active one.
type Layout struct {
	Open   []ID
	Active int
}

// A Draft is a prompt that was written and not sent.
type Draft struct {
	Text    string
	Editing bool // it is to take the place of a turn's text
	Turn    ID   // which one; 0: the last prompt
	Answer  bool // that turn is an answer
}
