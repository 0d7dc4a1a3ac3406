package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"rookery/chat/turn"
)

const journalColumns = `turn, parent, role, sampling, model, model_name, created, base, adapter, adapter_id, mix, edited, reading`

// BeginJournal implements chat.Store.
func (s *Store) BeginJournal(ctx context.Context, conversation turn.ID, t turn.Turn) error {
	sampling, err := encode(t.Sampling)
	if err != nil {
		return err
	}
	mix, err := encodeMix(t.Mix)
	if err != nil {
		return err
	}
	reading, err := encodeReading(&t)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT OR REPLACE INTO journals
		(conversation, `+journalColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		conversation, t.ID, t.Parent, t.Role, sampling, t.Model, t.ModelName, encodeTime(t.Created), t.Base, t.Adapter, t.AdapterID, mix, t.Edited, reading)
	return explain("starting the journal of an answer", err)
}

// AmendJournal implements chat.Store.
func (s *Store) AmendJournal(ctx context.Context, t turn.Turn) error {
	reading, err := encodeReading(&t)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `UPDATE journals SET adapter = ?, adapter_id = ?, reading = ? WHERE turn = ?`, t.Adapter, t.AdapterID, reading, t.ID)
	return explain("saving the answer as it comes", err)
}

// AppendJournal implements chat.Store.
func (s *Store) AppendJournal(ctx context.Context, id turn.ID, tokens []int32, text string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO journal_parts (turn, seq, tokens, text)
		SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3 FROM journal_parts WHERE turn = ?1`,
		id, encodeTokens(tokens), text)
	return explain("saving the answer as it comes", err)
}

// Journals implements chat.Store.
func (s *Store) Journals(ctx context.Context, conversation turn.ID) ([]turn.Journal, error) {
	const doing = "reading unfinished answers"
	rows, err := s.read.QueryContext(ctx, `SELECT `+journalColumns+`
		FROM journals WHERE conversation = ? ORDER BY turn`, conversation)
	if err != nil {
		return nil, explain(doing, err)
	}
	all, err := collect(rows, scanJournal)
	if err != nil {
		return nil, explain(doing, err)
	}
	for i := range all {
		if err := s.loadParts(ctx, &all[i]); err != nil {
			return nil, explain(doing, err)
		}
	}
	return all, nil
}

// loadJournal returns the newest unfinished answer of a conversation, or nil.
func (s *Store) loadJournal(ctx context.Context, conversation turn.ID) (*turn.Journal, error) {
	j, err := scanJournal(s.read.QueryRowContext(ctx, `SELECT `+journalColumns+`
		FROM journals WHERE conversation = ? ORDER BY turn DESC LIMIT 1`, conversation))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &j, s.loadParts(ctx, &j)
}

func scanJournal(row scanner) (turn.Journal, error) {
	var j turn.Journal
	var sampling, mix, reading string
	var created int64
	t := &j.Turn
	if err := row.Scan(&t.ID, &t.Parent, &t.Role, &sampling, &t.Model, &t.ModelName, &created,
		&t.Base, &t.Adapter, &t.AdapterID, &mix, &t.Edited, &reading); err != nil {
		return j, err
	}
	t.Created = decodeTime(created)
	var err error
	if t.Mix, err = decodeMix(mix); err != nil {
		return j, fmt.Errorf("unfinished answer %d: %w", t.ID, err)
	}
	if err = decodeReading(reading, t); err != nil {
		return j, fmt.Errorf("unfinished answer %d: %w", t.ID, err)
	}
	if t.Sampling, err = decodeSampling(sampling); err != nil {
		return j, fmt.Errorf("unfinished answer %d: %w", t.ID, err)
	}
	return j, nil
}

// loadParts reads what an unfinished answer has.
func (s *Store) loadParts(ctx context.Context, j *turn.Journal) error {
	rows, err := s.read.QueryContext(ctx, `SELECT tokens, text FROM journal_parts WHERE turn = ? ORDER BY seq`, j.Turn.ID)
	if err != nil {
		return err
	}
	var text strings.Builder
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var data []byte
		var part string
		if err := row.Scan(&data, &part); err != nil {
			return struct{}{}, err
		}
		tokens, err := decodeTokens(data)
		j.Tokens = append(j.Tokens, tokens...)
		text.WriteString(part)
		return struct{}{}, err
	})
	j.Text = text.String()
	return err
}
