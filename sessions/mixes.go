package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"rookery/chat/turn"
)

// Mixes implements chat.Store.
func (s *Store) Mixes(ctx context.Context) ([]turn.NamedMix, error) {
	const doing = "listing the saved mixes"
	rows, err := s.read.QueryContext(ctx, `SELECT name, mix, used FROM mixes ORDER BY used DESC, name`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, func(row scanner) (turn.NamedMix, error) {
		var m turn.NamedMix
		var text string
		var used int64
		if err := row.Scan(&m.Name, &text, &used); err != nil {
			return m, err
		}
		m.Used = decodeTime(used)
		m.Mix = mixOrNone(text)
		return m, nil
	})
	list = slices.DeleteFunc(list, func(m turn.NamedMix) bool { return !m.Mix.Active() }) // damaged
	return list, explain(doing, err)
}

// SaveMix implements chat.Store.
func (s *Store) SaveMix(ctx context.Context, m turn.NamedMix) error {
	text, err := encodeMix(m.Mix)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO mixes (name, mix, used) VALUES (?,?,?)
		ON CONFLICT (name) DO UPDATE SET mix = excluded.mix, used = excluded.used`, m.Name, text, encodeTime(m.Used))
	return explain("saving the mix", err)
}

// DeleteMix implements chat.Store.
func (s *Store) DeleteMix(ctx context.Context, name string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM mixes WHERE name = ?`, name)
	return explain("deleting the mix", err)
}

// encodeMix is a mix as stored: JSON, or nothing for none.
func encodeMix(m turn.Mix) (string, error) {
	if !m.Active() {
		return "", nil
	}
	return encode(m)
}

func decodeMix(text string) (turn.Mix, error) {
	var m turn.Mix
	if text == "" {
		return m, nil
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return turn.Mix{}, fmt.Errorf("mix: %w (%w)", ErrDamaged, err)
	}
	if err := m.Check(); err != nil {
		return turn.Mix{}, fmt.Errorf("mix: %w (%w)", ErrDamaged, err)
	}
	return m, nil
}
