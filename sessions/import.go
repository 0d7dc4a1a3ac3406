package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"rookery/chat/turn"
)

// indexedAtOnce is how many bytes of text an import puts into the index itself.
// More than that takes longer than to store it, and is added in the background.
const indexedAtOnce = 4 << 20

// Import implements chat.Store.
func (s *Store) Import(ctx context.Context, trees []turn.Tree) error {
	trees = slices.SortedFunc(slices.Values(trees), func(a, b turn.Tree) int { return cmp.Compare(a.Conversation.ID, b.Conversation.ID) })
	index := sizeOf(trees) <= indexedAtOnce
	if err := s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		p := prepare(tx)
		for _, t := range trees {
			if err := importTree(ctx, p, t); err != nil {
				return err
			}
		}
		if !index || s.upkeep.indexIsBroken() {
			return nil
		}
		return indexTrees(ctx, p, trees)
	}); err != nil {
		return explain("importing", err)
	}
	for _, t := range trees {
		if len(t.States) > 0 {
			s.upkeep.grew(t.Conversation.ID, 0)
		}
	}
	if !index {
		s.upkeep.fill()
	}
	return nil
}

func sizeOf(trees []turn.Tree) (bytes int64) {
	for _, t := range trees {
		for i := range t.Turns {
			bytes += int64(len(t.Turns[i].Text))
		}
	}
	return bytes
}

// indexTrees adds trees, in the order of their ids, to the index. It writes the
// entries in the order of its rows, titles first: whatever is out of order makes
// the index write all that it has gathered.
func indexTrees(ctx context.Context, tx txn, trees []turn.Tree) error {
	for _, t := range slices.Backward(trees) {
		if err := putIndex(ctx, tx, -int64(t.Conversation.ID), t.Conversation.Title); err != nil {
			return err
		}
	}
	var turns []*turn.Turn
	for _, t := range trees {
		for i := range t.Turns {
			turns = append(turns, &t.Turns[i])
		}
	}
	slices.SortFunc(turns, func(a, b *turn.Turn) int { return cmp.Compare(a.ID, b.ID) })
	for _, t := range turns {
		if err := putIndex(ctx, tx, int64(t.ID), t.Text); err != nil {
			return err
		}
	}
	return nil
}

func importTree(ctx context.Context, tx txn, t turn.Tree) error {
	c := t.Conversation
	if err := free(ctx, tx, c.ID, `SELECT count(*) FROM conversations WHERE id = ?`, c.ID); err != nil {
		return err
	}
	if err := saveHead(ctx, tx, c); err != nil {
		return err
	}
	for _, tn := range t.Turns {
		if err := free(ctx, tx, c.ID, `SELECT count(*) FROM turns WHERE id = ?`, tn.ID); err != nil {
			return err
		}
		if err := saveTurn(ctx, tx, c.ID, tn); err != nil {
			return err
		}
	}
	for _, state := range t.States {
		snap, err := state.Read()
		if err != nil {
			return err
		}
		if snap == nil {
			continue
		}
		packed, err := pack(snap)
		if err != nil {
			return fmt.Errorf("the state of turn %d: %w", state.Turn, err)
		}
		if err := saveSnapshot(ctx, tx, c.ID, state.Turn, packed); err != nil {
			return err
		}
	}
	return nil
}

// free refuses an id that is in use.
func free(ctx context.Context, tx txn, conversation turn.ID, query string, id turn.ID) error {
	var n int
	if err := tx.QueryRowContext(ctx, query, id).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return &turn.TakenError{Conversation: conversation}
	}
	return nil
}

// A txn is a transaction: one of the library's, or one that keeps its statements.
type txn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A prepared transaction keeps its statements: an import runs each of them a
// million times.
type prepared struct {
	tx         *sql.Tx // closes the statements
	statements map[string]*sql.Stmt
}

func prepare(tx *sql.Tx) *prepared { return &prepared{tx, map[string]*sql.Stmt{}} }

func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := p.statements[query]; s != nil {
		return s, nil
	}
	s, err := p.tx.PrepareContext(ctx, query)
	if err == nil {
		p.statements[query] = s
	}
	return s, err
}

// ExecContext implements txn.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := p.statement(ctx, query) //nolint:sqlclosecheck // the transaction closes it
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryRowContext implements txn.
func (p *prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := p.statement(ctx, query) //nolint:sqlclosecheck // the transaction closes it
	if err != nil {
		return p.tx.QueryRowContext(ctx, query, args...) // has the error
	}
	return s.QueryRowContext(ctx, args...)
}
