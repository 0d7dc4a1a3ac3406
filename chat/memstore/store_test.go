package memstore_test

import (
	"context"
	"fmt"
	"testing"

	"rookery/chat/memstore"
	"rookery/chat/turn"
)

func TestHistoryForgetsTheOldest(t *testing.T) {
	ctx := context.Background()
	s := memstore.New()
	for i := range 2100 {
		if err := s.AddHistory(ctx, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.History(ctx)
	if err != nil || len(got) != 2000 || got[0] != "100" || got[1999] != "2099" {
		t.Errorf("%d prompts from %s, %v", len(got), got[0], err)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	s := memstore.New()
	c := turn.Conversation{ID: 1}
	if _, _, err := s.Load(ctx, 1); err == nil {
		t.Error("loaded a conversation that is not there")
	}
	if err := s.BeginJournal(ctx, 1, turn.Turn{ID: 3, Parent: 2}); err == nil {
		t.Error("began a journal in a conversation that is not there")
	}
	if err := s.CommitTurn(ctx, c, turn.Turn{ID: 3, Parent: 2}, nil); err == nil {
		t.Error("committed a turn below one that is not there")
	}
	if err := s.AppendJournal(ctx, 3, []int32{1}, "x"); err == nil {
		t.Error("appended to a journal that was not begun")
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.CommitTurn(done, c, turn.Turn{ID: 2}, nil); err == nil {
		t.Error("committed after the context ended")
	}
}

func TestDelete(t *testing.T) {
	ctx := context.Background()
	s := memstore.New()
	for id := range turn.ID(2) {
		if err := s.CommitTurn(ctx, turn.Conversation{ID: id + 1}, turn.Turn{ID: id + 11}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, 1); err != nil {
		t.Fatal(err)
	}
	list, err := s.Conversations(ctx)
	if err != nil || len(list) != 1 || list[0].ID != 2 {
		t.Errorf("left: %v, %v", list, err)
	}
	if err := s.AppendJournal(ctx, 11, nil, ""); err == nil {
		t.Error("a deleted turn has a journal")
	}
}
