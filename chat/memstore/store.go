package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"rookery/chat/turn"
	"rookery/infer"
)

// historyLimit is how many prompts are kept.
const historyLimit = 2000

// A Store is a chat.Store in memory. Close keeps what it holds, so that a test
// may open it again.
type Store struct {
	mu            sync.Mutex
	conversations map[turn.ID]*conversation
	owner         map[turn.ID]*conversation // of a turn or journal
	layout        turn.Layout
	drafts        map[turn.ID]turn.Draft
	history       []string
	states        map[turn.ID]turn.State
	adapters      map[string]turn.Adapter
	votes         []turn.Vote
	mixes         map[string]turn.NamedMix
}

type conversation struct {
	head      turn.Conversation
	turns     map[turn.ID]turn.Turn
	snapshots map[turn.ID]*infer.Snapshot
	journals  map[turn.ID]*turn.Journal
}

var _ turn.Store = (*Store)(nil)

// New is an empty store.
func New() *Store {
	return &Store{conversations: map[turn.ID]*conversation{}, owner: map[turn.ID]*conversation{}, states: map[turn.ID]turn.State{}}
}

// Conversations lists all, newest Updated first.
func (s *Store) Conversations(ctx context.Context) ([]turn.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]turn.Conversation, 0, len(s.conversations))
	for _, c := range s.conversations {
		list = append(list, c.head)
	}
	slices.SortFunc(list, func(a, b turn.Conversation) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	return list, ctx.Err()
}

// Load returns a conversation and its turns.
func (s *Store) Load(ctx context.Context, id turn.ID) (turn.Conversation, []turn.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[id]
	if c == nil {
		return turn.Conversation{}, nil, fmt.Errorf("there is no conversation %d", id)
	}
	turns := slices.SortedFunc(maps.Values(c.turns), func(a, b turn.Turn) int { return cmp.Compare(a.ID, b.ID) })
	if ordered, err := turn.OrderTurns(turns); err == nil {
		turns = ordered
	}
	return c.head, turns, ctx.Err()
}

// SaveConversation inserts or updates the head data.
func (s *Store) SaveConversation(ctx context.Context, c turn.Conversation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation(c.ID).head = c
	return nil
}

// CommitTurn saves a turn, its snapshot and the conversation.
func (s *Store) CommitTurn(ctx context.Context, c turn.Conversation, t turn.Turn, snap *infer.Snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.conversation(c.ID)
	if _, ok := have.turns[t.Parent]; t.Parent != 0 && !ok {
		return fmt.Errorf("turn %d is below turn %d, which is not stored", t.ID, t.Parent)
	}
	have.head = c
	have.turns[t.ID] = t
	s.owner[t.ID] = have
	delete(have.snapshots, t.ID)
	if snap != nil {
		have.snapshots[t.ID] = snap
	}
	delete(have.journals, t.ID)
	return nil
}

func (s *Store) conversation(id turn.ID) *conversation {
	c := s.conversations[id]
	if c == nil {
		c = &conversation{turns: map[turn.ID]turn.Turn{}, snapshots: map[turn.ID]*infer.Snapshot{}, journals: map[turn.ID]*turn.Journal{}}
		s.conversations[id] = c
	}
	return c
}

// Snapshot returns that of a turn; nil, nil if none is kept.
func (s *Store) Snapshot(ctx context.Context, id turn.ID) (*infer.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.owner[id]
	if c == nil {
		return nil, ctx.Err()
	}
	return c.snapshots[id], ctx.Err()
}

// SnapshotReading finds the first of prefixes that a snapshot has read.
func (s *Store) SnapshotReading(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := map[infer.Prefix]*infer.Snapshot{}
	for _, c := range s.conversations {
		for _, snap := range c.snapshots {
			read[snap.Prefix] = snap
		}
	}
	for i, p := range prefixes {
		if snap := read[p]; snap != nil && p != (infer.Prefix{}) {
			return snap, i, ctx.Err()
		}
	}
	return nil, 0, ctx.Err()
}

// BeginJournal starts the journal of an answer.
func (s *Store) BeginJournal(ctx context.Context, id turn.ID, t turn.Turn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[id]
	if c == nil {
		return fmt.Errorf("there is no conversation %d to journal turn %d in", id, t.ID)
	}
	if _, ok := c.turns[t.Parent]; !ok {
		return fmt.Errorf("turn %d answers turn %d, which is not stored", t.ID, t.Parent)
	}
	t.Tokens, t.Text = nil, ""
	c.journals[t.ID] = &turn.Journal{Turn: t}
	s.owner[t.ID] = c
	return nil
}

// AmendJournal changes with which adapters an unfinished answer was read.
func (s *Store) AmendJournal(ctx context.Context, t turn.Turn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.owner[t.ID]; c != nil && c.journals[t.ID] != nil {
		j := &c.journals[t.ID].Turn
		j.Adapter, j.AdapterID, j.History = t.Adapter, t.AdapterID, t.History
	}
	return nil
}

// AppendJournal adds generated tokens and the text they gave.
func (s *Store) AppendJournal(ctx context.Context, id turn.ID, tokens []int32, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.owner[id]
	if c == nil || c.journals[id] == nil {
		return errors.New("there is no journal of that turn")
	}
	j := c.journals[id]
	j.Tokens = append(j.Tokens, tokens...)
	j.Text += text
	return nil
}

// Delete removes a conversation and everything of it.
func (s *Store) Delete(ctx context.Context, id turn.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conversations[id]; c != nil {
		for turnID, of := range s.owner {
			if of == c {
				delete(s.owner, turnID)
			}
		}
	}
	delete(s.conversations, id)
	delete(s.drafts, id)
	return ctx.Err()
}

// Layout is which conversations are open in which order.
func (s *Store) Layout(ctx context.Context) (turn.Layout, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return turn.Layout{Open: slices.Clone(s.layout.Open), Active: s.layout.Active}, ctx.Err()
}

// SaveLayout keeps it.
func (s *Store) SaveLayout(ctx context.Context, l turn.Layout) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.layout = turn.Layout{Open: slices.Clone(l.Open), Active: l.Active}
	return ctx.Err()
}

// Drafts are what was written and not sent.
func (s *Store) Drafts(ctx context.Context) (map[turn.ID]turn.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.drafts), ctx.Err()
}

// SaveDraft keeps one, or takes it away.
func (s *Store) SaveDraft(ctx context.Context, id turn.ID, d turn.Draft) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d == (turn.Draft{}) {
		delete(s.drafts, id)
		return ctx.Err()
	}
	if s.drafts == nil {
		s.drafts = map[turn.ID]turn.Draft{}
	}
	s.drafts[id] = d
	return ctx.Err()
}

// History is the prompts sent, oldest first.
func (s *Store) History(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.history), ctx.Err()
}

// AddHistory adds a prompt and forgets the oldest of too many.
func (s *Store) AddHistory(ctx context.Context, prompt string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, prompt)
	if over := len(s.history) - historyLimit; over > 0 {
		s.history = slices.Delete(s.history, 0, over)
	}
	return ctx.Err()
}

// Close does nothing.
func (s *Store) Close() error { return nil }
