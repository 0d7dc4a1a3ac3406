package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rookery/chat/turn"
)

const conversationColumns = `id, title, named, system, think, preset, sampling, created, updated, head,
	tip, base, pinned, archived, deleted, adapter, mix, copy_of, form`

// scanner is what *sql.Row and *sql.Rows share.
type scanner interface{ Scan(dest ...any) error }

func scanConversation(row scanner) (turn.Conversation, error) {
	var c turn.Conversation
	var sampling, mix, form string
	var created, updated, deleted int64
	if err := row.Scan(&c.ID, &c.Title, &c.Named, &c.System, &c.Think, &c.Preset, &sampling, &created, &updated, &c.Head,
		&c.Tip, &c.Base, &c.Pinned, &c.Archived, &deleted, &c.Adapter, &mix, &c.CopyOf, &form); err != nil {
		return c, err
	}
	c.Created, c.Updated, c.Deleted = decodeTime(created), decodeTime(updated), decodeTime(deleted)
	c.Sampling, c.Mix, c.Form = samplingOrDefault(sampling), mixOrNone(mix), formOrNone(form)
	return c, nil
}

// Conversations implements chat.Store.
func (s *Store) Conversations(ctx context.Context) ([]turn.Conversation, error) {
	const doing = "listing the conversations"
	rows, err := s.read.QueryContext(ctx, `SELECT `+conversationColumns+` FROM conversations ORDER BY updated DESC, id DESC`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, scanConversation)
	return list, explain(doing, err)
}

// none is what a scan returns that keeps what it reads itself.
type none struct{}

// collect scans all rows and closes them.
func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	var list []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, v)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// SaveConversation implements chat.Store.
func (s *Store) SaveConversation(ctx context.Context, c turn.Conversation) error {
	return explain("saving the conversation", s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		return s.saveConversation(ctx, tx, c)
	}))
}

func (s *Store) saveConversation(ctx context.Context, tx txn, c turn.Conversation) error {
	if err := s.indexTitle(ctx, tx, c.ID, c.Title); err != nil {
		return err
	}
	return saveHead(ctx, tx, c)
}

// saveHead saves a conversation without its title in the index.
func saveHead(ctx context.Context, tx txn, c turn.Conversation) error {
	sampling, err := encode(c.Sampling)
	if err != nil {
		return err
	}
	mix, err := encodeMix(c.Mix)
	if err != nil {
		return err
	}
	form, err := encodeForm(c.Form)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO conversations (`+conversationColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, named = excluded.named, system = excluded.system,
			think = excluded.think, preset = excluded.preset, sampling = excluded.sampling,
			updated = excluded.updated, head = excluded.head, tip = excluded.tip, base = excluded.base,
			pinned = excluded.pinned, archived = excluded.archived, deleted = excluded.deleted,
			adapter = excluded.adapter, mix = excluded.mix, copy_of = excluded.copy_of, form = excluded.form`,
		c.ID, c.Title, c.Named, c.System, string(c.Think), c.Preset, sampling, encodeTime(c.Created), encodeTime(c.Updated), c.Head,
		c.Tip, c.Base, c.Pinned, c.Archived, encodeTime(c.Deleted), c.Adapter, mix, c.CopyOf, form)
	return err
}

// Load implements turn.Store.
func (s *Store) Load(ctx context.Context, id turn.ID) (turn.Conversation, []turn.Turn, error) {
	doing := fmt.Sprintf("loading conversation %d", id)
	c, err := scanConversation(s.read.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil, notFound(id)
	}
	if err != nil {
		return c, nil, explain(doing, err)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE conversation = ? ORDER BY id`, id)
	if err != nil {
		return c, nil, explain(doing, err)
	}
	turns, err := collect(rows, scanTurn)
	if ordered, oerr := turn.OrderTurns(turns); oerr == nil {
		turns = ordered // otherwise who opens it says what is missing
	}
	return c, turns, explain(doing, err)
}

// Delete implements chat.Store.
func (s *Store) Delete(ctx context.Context, id turn.ID) error {
	res, err := s.write.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
	if indexDamaged(err) && s.emptyIndex(ctx) == nil {
		s.upkeep.breakIndex() // to be filled again
		res, err = s.write.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
	}
	if err != nil {
		return explain("deleting the conversation", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(notFound(id), err)
	}
	return nil
}

// Layout implements chat.Store. Conversations that are not stored (empty ones,
// or deleted since) and have no draft are left out.
func (s *Store) Layout(ctx context.Context) (turn.Layout, error) {
	var l turn.Layout
	rows, err := s.read.QueryContext(ctx, `SELECT conversation, active FROM layout
		WHERE conversation IN (SELECT id FROM conversations) OR conversation IN (SELECT conversation FROM drafts) ORDER BY position`)
	if err != nil {
		return l, explain("reading the open tabs", err)
	}
	_, err = collect(rows, func(row scanner) (none, error) {
		var id turn.ID
		var active bool
		err := row.Scan(&id, &active)
		if active {
			l.Active = len(l.Open)
		}
		l.Open = append(l.Open, id)
		return none{}, err
	})
	return l, explain("reading the open tabs", err)
}

// SaveLayout implements chat.Store. A conversation may be stored later.
func (s *Store) SaveLayout(ctx context.Context, l turn.Layout) error {
	return explain("saving the open tabs", inTx(ctx, s.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM layout`); err != nil {
			return err
		}
		for i, id := range l.Open {
			if _, err := tx.ExecContext(ctx, `INSERT INTO layout (position, conversation, active) VALUES (?,?,?)`,
				i, id, i == l.Active); err != nil {
				return err
			}
		}
		return nil
	}))
}

// historyKept is how many prompts are remembered.
const historyKept = 5000

// History implements chat.Store.
func (s *Store) History(ctx context.Context) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT prompt FROM history ORDER BY id`)
	if err != nil {
		return nil, explain("reading the prompt history", err)
	}
	list, err := collect(rows, func(row scanner) (string, error) {
		var p string
		return p, row.Scan(&p)
	})
	return list, explain("reading the prompt history", err)
}

// AddHistory implements chat.Store. A prompt that repeats the last one is not added.
func (s *Store) AddHistory(ctx context.Context, prompt string) error {
	return explain("saving the prompt history", inTx(ctx, s.write, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO history (prompt) SELECT ?1
			WHERE ?1 IS NOT (SELECT prompt FROM history ORDER BY id DESC LIMIT 1)`, prompt)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM history WHERE id <= ?`, id-historyKept)
		return err
	}))
}
