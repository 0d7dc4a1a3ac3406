package sessions

import (
	"context"
	"fmt"
	"strings"

	"rookery/chat/turn"
)

const journalColumns = `turn, parent, role, sampling, model, model_name, created, base, adapter, adapter_id, mix, edited, history`

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
	history, err := encodeHistory(&t)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT OR REPLACE INTO journals
		(conversation, `+journalColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		conversation, t.ID, t.Parent, t.Role, sampling, t.Model, t.ModelName, encodeTime(t.Created), t.Base, t.Adapter, t.AdapterID, mix, t.Edited, history)
	return explain("starting the journal of an answer", err)
}

// AmendJournal implements chat.Store.
func (s *Store) AmendJournal(ctx context.Context, t turn.Turn) error {
	history, err := encodeHistory(&t)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `UPDATE journals SET adapter = ?, adapter_id = ?, history = ? WHERE turn = ?`, t.Adapter, t.AdapterID, history, t.ID)
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
	const doing = "history unfinished answers"
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

func scanJournal(row scanner) (turn.Journal, error) {
	var j turn.Journal
	var sampling, mix, history string
	var created int64
	t := &j.Turn
	if err := row.Scan(&t.ID, &t.Parent, &t.Role, &sampling, &t.Model, &t.ModelName, &created,
		&t.Base, &t.Adapter, &t.AdapterID, &mix, &t.Edited, &history); err != nil {
		return j, err
	}
	t.Created = decodeTime(created)
	var err error
	if t.Mix, err = decodeMix(mix); err != nil {
		return j, fmt.Errorf("unfinished answer %d: %w", t.ID, err)
	}
	if err = decodeHistory(history, t); err != nil {
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
	_, err = collect(rows, func(row scanner) (none, error) {
		var data []byte
		var part string
		if err := row.Scan(&data, &part); err != nil {
			return none{}, err
		}
		tokens, err := decodeTokens(data)
		j.Tokens = append(j.Tokens, tokens...)
		text.WriteString(part)
		return none{}, err
	})
	j.Text = text.String()
	return err
}
