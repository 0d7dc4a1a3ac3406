package sessions

import (
	"context"
	"database/sql"
	"fmt"

	"rookery/chat/turn"
)

// Repair mends what can be mended without a loss beyond what Check calls lost:
// settings that cannot be read become the defaults that they are read as, heads
// that are missing become the newest turn, states that are damaged or badly
// noted go and are made anew when they are needed, and the search index is made
// anew. It says what it did, a line each. Texts and tokens stay as they are.
func (s *Store) Repair(ctx context.Context) (done []string, err error) {
	const doing = "repairing the conversations"
	for _, mend := range []func(context.Context) ([]string, error){s.mendConversations, s.mendSnapshots, s.mendSearch} {
		said, err := mend(ctx)
		done = append(done, said...)
		if err != nil {
			return done, explain(doing, err)
		}
	}
	return done, nil
}

// mendConversations writes conversations anew whose settings cannot be read, or
// whose head or tip is missing.
func (s *Store) mendConversations(ctx context.Context) (done []string, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, sampling, mix,
		head <> 0 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.head AND t.conversation = c.id),
		tip <> 0 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.tip AND t.conversation = c.id),
		(SELECT coalesce(max(id), 0) FROM turns t WHERE t.conversation = c.id) FROM conversations c`)
	if err != nil {
		return nil, err
	}
	type damage struct {
		id, newest              turn.ID
		settings, noHead, noTip bool
	}
	all, err := collect(rows, func(row scanner) (damage, error) {
		var d damage
		var settings [2]string
		err := row.Scan(&d.id, &settings[0], &settings[1], &d.noHead, &d.noTip, &d.newest)
		d.settings = decodeConversationSettings(settings) != nil
		return d, err
	})
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if !d.settings && !d.noHead && !d.noTip {
			continue
		}
		c, _, err := s.Load(ctx, d.id)
		if err != nil {
			return done, err
		}
		if d.noHead {
			c.Head = d.newest
		}
		if d.noHead || d.noTip {
			c.Tip = c.Head
		}
		if err := s.SaveConversation(ctx, c); err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("conversation %d has settings, and turns to go on from, that can be read", d.id))
	}
	return done, nil
}

// mendSnapshots removes the states of turns that are damaged or badly noted, and
// those that nothing has.
func (s *Store) mendSnapshots(ctx context.Context) (done []string, err error) {
	bad, err := s.badSnapshots(ctx)
	if err != nil {
		return nil, err
	}
	var contents []int64
	if err := s.eachBadContent(ctx, func(c badContent) {
		if c.turn.Valid || !c.name.Valid { // one of the library is lost, and stays as it is
			contents = append(contents, c.id)
		}
	}); err != nil {
		return nil, err
	}
	err = inTx(ctx, s.write, func(tx *sql.Tx) error {
		for _, of := range []struct {
			query string
			ids   []int64
		}{
			{`DELETE FROM snapshots WHERE turn = ?`, bad},
			{`DELETE FROM snapshots WHERE content = ?`, contents},
			{`DELETE FROM contents WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM states WHERE content = ?1)`, contents},
		} {
			for _, id := range of.ids {
				if _, err := tx.ExecContext(ctx, of.query, id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && len(bad)+len(contents) > 0 {
		done = []string{"damaged states of turns are removed; they are made anew when they are needed"}
	}
	return done, err
}

// mendSearch makes the search index anew, if it is not in step.
func (s *Store) mendSearch(ctx context.Context) ([]string, error) {
	bad, err := s.checkIndex(ctx)
	if err != nil || len(bad) == 0 {
		return nil, err
	}
	s.upkeep.breakIndex()
	if err := s.fillIndex(ctx, nil); err != nil {
		return nil, err
	}
	return []string{"the search index is made anew"}, nil
}
