package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"rookery/chat/turn"
	"rookery/infer/adapter"
)

// adapterRecord is how an adapter is used, as stored. Names are part of the schema.
type adapterRecord struct {
	Alpha    float32 `json:"alpha,omitempty"`
	Scale    float32 `json:"scale,omitempty"`
	Strength float32 `json:"strength,omitempty"`
	Blocks   string  `json:"blocks,omitempty"`
	Init     string  `json:"init,omitempty"`
	Partial  bool    `json:"partial,omitempty"`
	Merged   bool    `json:"merged,omitempty"`
}

func decodeAdapter(text string) (adapterRecord, error) {
	var r adapterRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return adapterRecord{}, fmt.Errorf("options: %w (%w)", ErrDamaged, err)
	}
	return r, nil
}

// Adapters implements chat.Store.
func (s *Store) Adapters(ctx context.Context) ([]turn.Adapter, error) {
	const doing = "listing the adapters"
	rows, err := s.read.QueryContext(ctx, `SELECT fingerprint, name, path, options, used FROM adapters ORDER BY used DESC, fingerprint`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, func(row scanner) (turn.Adapter, error) {
		var a turn.Adapter
		var options string
		var used int64
		if err := row.Scan(&a.Fingerprint, &a.Name, &a.Path, &options, &used); err != nil {
			return a, err
		}
		r, _ := decodeAdapter(options) // otherwise as the file says
		a.Options = adapter.Options{Alpha: r.Alpha, Scale: r.Scale, Strength: r.Strength, Blocks: r.Blocks, Init: r.Init, Partial: r.Partial}
		a.Merged, a.Used = r.Merged, decodeTime(used)
		return a, nil
	})
	return list, explain(doing, err)
}

// SaveAdapter implements chat.Store.
func (s *Store) SaveAdapter(ctx context.Context, a turn.Adapter) error {
	o := a.Options
	options, err := encode(adapterRecord{
		Alpha: o.Alpha, Scale: o.Scale, Strength: o.Strength, Blocks: o.Blocks, Init: o.Init, Partial: o.Partial, Merged: a.Merged,
	})
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO adapters (fingerprint, name, path, options, used) VALUES (?,?,?,?,?)
		ON CONFLICT (fingerprint) DO UPDATE SET name = excluded.name, path = excluded.path, options = excluded.options, used = excluded.used`,
		a.Fingerprint, a.Name, a.Path, options, encodeTime(a.Used))
	return explain("remembering the adapter", err)
}

// ForgetAdapter implements chat.Store.
func (s *Store) ForgetAdapter(ctx context.Context, fingerprint string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM adapters WHERE fingerprint = ?`, fingerprint)
	return explain("forgetting the adapter", err)
}
