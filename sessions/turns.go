package sessions

import (
	"context"
	"database/sql"
	"fmt"

	"rookery/chat/turn"
	"rookery/infer"
)

const turnColumns = `id, parent, role, text, tokens, recall, open, reason, sampling, model, model_name, created, usage,
	base, adapter, label, pinned, edited, mix, adapter_id, history`

func scanTurn(row scanner) (turn.Turn, error) {
	var t turn.Turn
	var tokens []byte
	var recall sql.Null[[]byte]
	var sampling, usage, mix, history string
	var created int64
	if err := row.Scan(&t.ID, &t.Parent, &t.Role, &t.Text, &tokens, &recall, &t.Open, &t.Reason, &sampling, &t.Model, &t.ModelName, &created, &usage,
		&t.Base, &t.Adapter, &t.Label, &t.Pinned, &t.Edited, &mix, &t.AdapterID, &history); err != nil {
		return t, err
	}
	t.Created = decodeTime(created)
	t.Sampling, t.Mix = samplingOrDefault(sampling), mixOrNone(mix)
	t.Usage, _ = decodeUsage(usage) // how long it took, for people
	if decodeHistory(history, &t) != nil {
		t.History = turn.History{} // not known: it is read again
	}
	var err, rerr error
	t.Tokens, err = decodeTokens(tokens)
	if recall.Valid {
		t.Recall, rerr = decodeTokens(recall.V)
	}
	if err != nil || rerr != nil { // they are made anew from the text, as those of another model
		t.Tokens, t.Recall, t.Model, t.History = nil, nil, "", turn.History{}
	}
	return t, nil
}

// CommitTurn implements chat.Store.
func (s *Store) CommitTurn(ctx context.Context, c turn.Conversation, t turn.Turn, snap *infer.Snapshot) error {
	if snap != nil && snap.HostBytes() >= gentleBytes {
		return gently(func() error { return s.commitTurn(ctx, c, t, snap) })
	}
	return s.commitTurn(ctx, c, t, snap)
}

func (s *Store) commitTurn(ctx context.Context, c turn.Conversation, t turn.Turn, snap *infer.Snapshot) error {
	state, err := pack(snap)
	if err != nil {
		return fmt.Errorf("saving the turn: %w", err)
	}
	if err := s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		if err := s.saveConversation(ctx, tx, c); err != nil {
			return err
		}
		if err := s.indexTurn(ctx, tx, t.ID, t.Text); err != nil {
			return err
		}
		if err := saveTurn(ctx, tx, c.ID, t); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM journals WHERE turn = ?`, t.ID); err != nil {
			return err
		}
		if state.data == nil {
			_, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE turn = ?`, t.ID)
			return err
		}
		return saveSnapshot(ctx, tx, c.ID, t.ID, state)
	}); err != nil {
		return explain("saving the turn", err)
	}
	if state.data != nil {
		s.upkeep.grew(c.ID, int64(len(state.data)))
	}
	return nil
}

func saveTurn(ctx context.Context, tx txn, conversation turn.ID, t turn.Turn) error {
	sampling, err := encode(t.Sampling)
	if err != nil {
		return err
	}
	usage, err := encodeUsage(t.Usage)
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
	var recall any
	sum := sealed{parent: t.Parent, role: t.Role, text: t.Text, sampling: sampling, model: t.Model, tokens: encodeTokens(t.Tokens), history: history}
	sum.way = [...]string{t.Base, t.Adapter, t.AdapterID, mix}
	if t.Recall != nil {
		sum.recall = encodeTokens(t.Recall)
		recall = sum.recall
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO turns (conversation, sum, `+turnColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (id) DO UPDATE SET sum = excluded.sum, text = excluded.text, tokens = excluded.tokens, recall = excluded.recall, open = excluded.open,
			reason = excluded.reason, sampling = excluded.sampling, model = excluded.model,
			model_name = excluded.model_name, usage = excluded.usage, base = excluded.base,
			adapter = excluded.adapter, label = excluded.label, pinned = excluded.pinned, edited = excluded.edited, mix = excluded.mix,
			adapter_id = excluded.adapter_id, history = excluded.history`,
		conversation, sum.checksum(), t.ID, t.Parent, t.Role, t.Text, sum.tokens, recall, t.Open, t.Reason, sampling, t.Model, t.ModelName, encodeTime(t.Created), usage,
		t.Base, t.Adapter, t.Label, t.Pinned, t.Edited, mix, t.AdapterID, history)
	return err
}
