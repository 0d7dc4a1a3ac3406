package chat_test

import (
	"context"
	"strings"
	"sync"

	"rookery/chat/turn"
	"rookery/infer"
)

// trouble is a store that fails or forgets where a test wants it to.
type trouble struct {
	turn.Store
	mu    sync.Mutex
	fault func(op string) error
	swap  func(*infer.Snapshot) (*infer.Snapshot, error)
	calls []string
}

// set makes every write ask fault first; nil is no trouble.
func (s *trouble) set(fault func(op string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// replace changes what Snapshot gives.
func (s *trouble) replace(swap func(*infer.Snapshot) (*infer.Snapshot, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swap = swap
}

func (s *trouble) write(op string) error {
	s.mu.Lock()
	fault := s.fault
	s.calls = append(s.calls, op)
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(op)
}

// wrote is the writes so far, joined.
func (s *trouble) wrote() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.calls, " ")
}

func (s *trouble) AddVote(ctx context.Context, v turn.Vote) error {
	if err := s.write("vote"); err != nil {
		return err
	}
	return s.Store.AddVote(ctx, v)
}

func (s *trouble) CommitTurn(ctx context.Context, c turn.Conversation, t turn.Turn, snap *infer.Snapshot) error {
	op := "commit"
	if snap == nil {
		op = "commit text"
	}
	if err := s.write(op); err != nil {
		return err
	}
	return s.Store.CommitTurn(ctx, c, t, snap)
}

func (s *trouble) SaveConversation(ctx context.Context, c turn.Conversation) error {
	if err := s.write("head"); err != nil {
		return err
	}
	return s.Store.SaveConversation(ctx, c)
}

func (s *trouble) BeginJournal(ctx context.Context, id turn.ID, t turn.Turn) error {
	if err := s.write("begin"); err != nil {
		return err
	}
	return s.Store.BeginJournal(ctx, id, t)
}

func (s *trouble) AppendJournal(ctx context.Context, id turn.ID, tokens []int32, text string) error {
	if err := s.write("append"); err != nil {
		return err
	}
	return s.Store.AppendJournal(ctx, id, tokens, text)
}

func (s *trouble) SaveLayout(ctx context.Context, l turn.Layout) error {
	if err := s.write("layout"); err != nil {
		return err
	}
	return s.Store.SaveLayout(ctx, l)
}

func (s *trouble) Snapshot(ctx context.Context, id turn.ID) (*infer.Snapshot, error) {
	s.mu.Lock()
	swap := s.swap
	s.mu.Unlock()
	snap, err := s.Store.Snapshot(ctx, id)
	if swap != nil && err == nil {
		return swap(snap)
	}
	return snap, err
}
