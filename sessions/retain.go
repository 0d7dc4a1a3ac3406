package sessions

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"rookery/chat/save"
	"rookery/chat/turn"
)

const (
	// NoBudget lets snapshots take what they take.
	NoBudget = -1
	// slack is the part of the budget (1/slack) that thinning makes free
	// beyond it, so that not every turn after it has to thin again.
	slack = 16
	// removedAtOnce bounds what one transaction of thinning removes, so that no
	// turn waits long for the writer.
	removedAtOnce = 32 << 20
)

// Retention says which snapshots are kept.
type Retention struct {
	Budget int64 // bytes of snapshots on disk; 0 keeps those of marked turns alone
}

// SetRetention changes the rules; they are applied in the background.
func (s *Store) SetRetention(r Retention) {
	s.upkeep.mu.Lock()
	defer s.upkeep.mu.Unlock()
	s.upkeep.retention = r
	s.upkeep.over = true
}

// retain notes what was used, thins conversations that have grown, and thins
// those that nobody used for longest until the budget is kept.
func (s *Store) retain(ctx context.Context) error {
	grown, used, over := s.upkeep.take()
	if len(used) > 0 {
		if err := s.noteUse(ctx, used); err != nil {
			return err
		}
	}
	for _, id := range grown {
		if _, err := s.thin(ctx, id, save.ThinLightly, 0); err != nil {
			return err
		}
	}
	if !over {
		return nil
	}
	_, err := s.keepBudget(ctx)
	return err
}

func (s *Store) noteUse(ctx context.Context, used map[turn.ID]time.Time) error {
	return inTx(ctx, s.write, func(tx *sql.Tx) error {
		for id, at := range used {
			if _, err := tx.ExecContext(ctx, `UPDATE snapshots SET used = max(used, ?) WHERE turn = ?`, encodeTime(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepBudget thins until the snapshots fit, and says how many bytes went.
// First every conversation down to its forks, the one that was thrown away or
// not used for longest before the others; then all down to their ends; then to
// what a person marked, which stays whatever it takes.
func (s *Store) keepBudget(ctx context.Context) (freed int64, err error) {
	budget := s.upkeep.budget()
	if budget < 0 {
		return 0, nil
	}
	var total int64
	if err := s.read.QueryRowContext(ctx, `SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM snapshots GROUP BY content)`).Scan(&total); err != nil {
		return 0, err
	}
	if total <= budget {
		return 0, nil
	}
	excess := total - budget + budget/slack
	byUse, err := s.byUse(ctx)
	if err != nil {
		return 0, err
	}
	for _, steps := range [][2]save.Thinning{{save.ThinLightly, save.ThinToForks}, {save.ThinToEnd, save.ThinToEnd}, {save.ThinToMarks, save.ThinToMarks}} {
		for _, id := range byUse {
			for by := steps[0]; by <= steps[1]; by++ {
				if freed >= excess {
					return freed, nil
				}
				n, err := s.thin(ctx, id, by, excess-freed)
				freed += n
				if err != nil {
					return freed, err
				}
			}
		}
	}
	return freed, nil
}

func (u *upkeep) budget() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.retention.Budget
}

// byUse lists the conversations with snapshots, the first to be thinned first.
func (s *Store) byUse(ctx context.Context) ([]turn.ID, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT f.conversation FROM snapshots f
		LEFT JOIN conversations c ON c.id = f.conversation
		GROUP BY f.conversation ORDER BY coalesce(c.deleted, 1) > 0 DESC, max(f.used), f.conversation`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (turn.ID, error) {
		var id turn.ID
		return id, row.Scan(&id)
	})
}

// thin removes what a conversation can do without at a step of thinning, the
// oldest first, until at least enough bytes are free; enough 0 is all of it.
func (s *Store) thin(ctx context.Context, conversation turn.ID, by save.Thinning, enough int64) (freed int64, err error) {
	turns, head, tip, err := s.kept(ctx, conversation)
	if err != nil {
		return 0, err
	}
	bytes := make(map[turn.ID]int64, len(turns))
	for _, k := range turns {
		bytes[k.ID] = k.Bytes
	}
	var batch []turn.ID
	var size int64
	spared := save.Thin(turns, head, tip, by)
	for i, id := range spared {
		batch, size = append(batch, id), size+bytes[id]
		if size < removedAtOnce && (enough <= 0 || freed+size < enough) && i < len(spared)-1 {
			continue
		}
		n, err := s.removeSnapshots(ctx, batch)
		freed += n
		if err != nil || enough > 0 && freed >= enough {
			return freed, err
		}
		batch, size = nil, 0
	}
	return freed, nil
}

// kept reads what the rules must know of a conversation.
func (s *Store) kept(ctx context.Context, conversation turn.ID) (turns []save.Kept, head, tip turn.ID, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT t.id, t.parent, t.pinned OR t.label <> '', coalesce(f.bytes, 0)
		FROM turns t LEFT JOIN snapshots f ON f.turn = t.id WHERE t.conversation = ? ORDER BY t.id`, conversation)
	if err != nil {
		return nil, 0, 0, err
	}
	turns, err = collect(rows, func(row scanner) (save.Kept, error) {
		var k save.Kept
		return k, row.Scan(&k.ID, &k.Parent, &k.Marked, &k.Bytes)
	})
	if err != nil {
		return nil, 0, 0, err
	}
	if ordered, oerr := turn.Order(turns, func(k *save.Kept) (id, parent turn.ID) { return k.ID, k.Parent }); oerr == nil {
		turns = ordered
	}
	err = s.read.QueryRowContext(ctx, `SELECT coalesce(max(head), 0), coalesce(max(tip), 0) FROM conversations WHERE id = ?`, conversation).Scan(&head, &tip)
	return turns, head, tip, err
}

// removeSnapshots removes those of turns that nobody has marked meanwhile. A
// content that other turns share stays, and frees nothing.
func (s *Store) removeSnapshots(ctx context.Context, turns []turn.ID) (freed int64, err error) {
	err = inTx(ctx, s.write, func(tx *sql.Tx) error {
		for _, id := range turns {
			var content, bytes int64
			err := tx.QueryRowContext(ctx, `DELETE FROM snapshots WHERE turn = ?1
				AND NOT EXISTS (SELECT 1 FROM turns WHERE id = ?1 AND (pinned <> 0 OR label <> '')) RETURNING content, bytes`, id).Scan(&content, &bytes)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			var shared bool
			if err == nil {
				err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM contents WHERE id = ?)`, content).Scan(&shared)
			}
			if err != nil {
				return err
			}
			if !shared {
				freed += bytes
			}
		}
		return nil
	})
	return freed, err
}
