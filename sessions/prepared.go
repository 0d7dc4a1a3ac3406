package sessions

import (
	"context"
	"database/sql"
)

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
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryRowContext implements txn.
func (p *prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := p.statement(ctx, query)
	if err != nil {
		return p.tx.QueryRowContext(ctx, query, args...) // has the error
	}
	return s.QueryRowContext(ctx, args...)
}
