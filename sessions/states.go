package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

const stateColumns = `id, name, kind, source, model, model_name, adapter, adapter_name, shape, created, length(tokens), (SELECT bytes FROM contents WHERE id = states.content)`

func scanState(row scanner) (turn.State, error) {
	var s turn.State
	var shape []byte
	var created int64
	if err := row.Scan(&s.ID, &s.Name, &s.Kind, &s.Source, &s.Model, &s.ModelName, &s.Adapter, &s.AdapterName, &shape, &created, &s.Read, &s.Bytes); err != nil {
		return s, err
	}
	s.Created, s.Read = decodeTime(created), s.Read/4
	var err error
	if s.Shape, err = statefile.UnmarshalShape(shape); err != nil {
		return s, &shapeError{fmt.Errorf("state %d (%s): %w: %w", s.ID, s.Name, ErrDamaged, err)}
	}
	return s, nil
}

// A shapeError says that the shape of a state is damaged.
type shapeError struct{ error }

func (e *shapeError) Unwrap() error { return e.error }

// States implements chat.Store.
func (s *Store) States(ctx context.Context) ([]turn.State, error) {
	const doing = "listing the states"
	rows, err := s.read.QueryContext(ctx, `SELECT `+stateColumns+` FROM states ORDER BY name`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, func(row scanner) (turn.State, error) {
		s, err := scanState(row)
		var damaged *shapeError
		if errors.As(err, &damaged) {
			err = nil // it can be seen and deleted; who takes it is told
		}
		return s, err
	})
	return list, explain(doing, err)
}

// State implements chat.Store. One that fails its checksum is ErrDamaged.
func (s *Store) State(ctx context.Context, id turn.ID) (turn.State, error) {
	doing := fmt.Sprintf("reading state %d", id)
	out, err := scanState(s.read.QueryRowContext(ctx, `SELECT `+stateColumns+` FROM states WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return out, &turn.NoStateError{Name: id.String()}
	}
	if err != nil {
		return out, explain(doing, err)
	}
	var tokens, data []byte
	if err := s.read.QueryRowContext(ctx, `SELECT tokens, data FROM states JOIN contents ON contents.id = states.content WHERE states.id = ?`, id).Scan(&tokens, &data); err != nil {
		return out, explain(doing, err)
	}
	doing = fmt.Sprintf("reading the state %q", out.Name)
	if out.Tokens, err = decodeTokens(tokens); err != nil {
		return out, fmt.Errorf("%s: %w", doing, err)
	}
	out.Snapshot = new(infer.Snapshot)
	if err := out.Snapshot.UnmarshalBinary(data); err != nil {
		return out, fmt.Errorf("%s: %w: %w", doing, ErrDamaged, err)
	}
	return out, nil
}

// SaveState implements chat.Store.
func (s *Store) SaveState(ctx context.Context, st turn.State) error {
	const doing = "saving the state"
	state, err := pack(st.Snapshot)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	shape, err := statefile.MarshalShape(st.Shape)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return stateError(doing, inTx(ctx, s.write, func(tx *sql.Tx) error {
		content, err := saveContent(ctx, tx, state)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO states (id, name, kind, source, model, model_name, adapter, adapter_name, shape, tokens, created, content)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
			st.ID, st.Name, string(st.Kind), st.Source, st.Model, st.ModelName, st.Adapter, st.AdapterName, string(shape), encodeTokens(st.Tokens), encodeTime(st.Created), content)
		return err
	}))
}

// stateError explains a failure; a name that exists is chat.ErrNameTaken.
func stateError(doing string, err error) error {
	var se *sqlite.Error
	if errors.As(err, &se) && se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return fmt.Errorf("%s: %w", doing, turn.ErrNameTaken)
	}
	return explain(doing, err)
}

// RenameState implements chat.Store.
func (s *Store) RenameState(ctx context.Context, id turn.ID, name string) error {
	const doing = "renaming the state"
	res, err := s.write.ExecContext(ctx, `UPDATE states SET name = ? WHERE id = ?`, name, id)
	if err != nil {
		return stateError(doing, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(&turn.NoStateError{Name: id.String()}, err)
	}
	return nil
}

// DeleteState implements chat.Store.
func (s *Store) DeleteState(ctx context.Context, id turn.ID) error {
	return explain("deleting the state", inTx(ctx, s.write, func(tx *sql.Tx) error {
		var used turn.InUseError
		const mixed = ` WHERE json_valid(mix) AND EXISTS (SELECT 1 FROM json_each(mix, '$.faders') WHERE CAST(json_extract(value, '$.state') AS INTEGER) = states.id)`
		err := tx.QueryRowContext(ctx, `SELECT name, (SELECT count(*) FROM conversations WHERE base = states.id),
			(SELECT count(*) FROM conversations`+mixed+`), (SELECT count(*) FROM mixes`+mixed+`)
			FROM states WHERE id = ?`, id).Scan(&used.Name, &used.Conversations, &used.Mixing, &used.Saved)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return &turn.NoStateError{Name: id.String()}
		case err != nil:
			return err
		case used.Conversations+used.Mixing+used.Saved > 0:
			return &used
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM states WHERE id = ?`, id)
		return err
	}))
}
