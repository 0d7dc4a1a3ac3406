package sessions

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rookery/infer"
)

// A Problem is something that Check found.
type Problem struct {
	What string // one line
	Lost bool   // data cannot be read; otherwise it is rebuilt when needed
}

// invariants are queries that must return no row; each row is a problem.
var invariants = []string{
	`SELECT 'the page structure: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	`SELECT 'a row of ' || "table" || ' belongs to nothing' FROM pragma_foreign_key_check`,
	`SELECT 'turn ' || t.id || ' follows turn ' || t.parent || ', which is not in its conversation' FROM turns t
	   WHERE t.parent <> 0 AND NOT EXISTS (SELECT 1 FROM turns p WHERE p.id = t.parent AND p.conversation = t.conversation)`,
	`SELECT 'conversation ' || c.id || ' ends with turn ' || c.head || ', which it does not have' FROM conversations c
	   WHERE c.head <> 0 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.head AND t.conversation = c.id)`,
	`SELECT 'the line of conversation ' || c.id || ' ends with turn ' || c.tip || ', which it does not have' FROM conversations c
	   WHERE c.tip <> 0 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.tip AND t.conversation = c.id)`,
	`SELECT 'the part of unfinished answer ' || p.turn || ' numbered ' || p.seq || ' has broken tokens' FROM journal_parts p WHERE length(p.tokens) % 4 <> 0`,
	`SELECT 'unfinished answer ' || j.turn || ' follows turn ' || j.parent || ', which is not in its conversation' FROM journals j
	   WHERE j.parent <> 0 AND NOT EXISTS (SELECT 1 FROM turns p WHERE p.id = j.parent AND p.conversation = j.conversation)`,
	`SELECT 'turn ' || id || ' has text and no tokens' FROM turns WHERE text <> '' AND length(tokens) = 0 AND model <> ''`,
	`SELECT 'turn ' || id || ' has broken tokens' FROM turns WHERE length(tokens) % 4 <> 0`,
}

// Check reads everything and reports what is wrong. It changes nothing.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	found, err := s.checkInvariants(ctx)
	if err != nil {
		return found, explain("checking "+s.path, err)
	}
	for _, check := range []func(context.Context) ([]Problem, error){s.checkSums, s.checkSettings, s.checkContents, s.checkSnapshots, s.checkIndex} {
		bad, err := check(ctx)
		found = append(found, bad...)
		if err != nil {
			return found, explain("checking "+s.path, err)
		}
	}
	return found, nil
}

// checkInvariants uses a connection of its own: the search index of one that
// has been used holds pages in memory, which its check takes for those on disk
// also when another connection has changed them since.
func (s *Store) checkInvariants(ctx context.Context) (found []Problem, err error) {
	db, err := sql.Open("sqlite", s.reader)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, query := range invariants {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return found, err
		}
		list, err := collect(rows, func(row scanner) (Problem, error) {
			p := Problem{Lost: true}
			err := row.Scan(&p.What)
			p.What = strings.ReplaceAll(p.What, "\n", "; ")
			return p, err
		})
		found = append(found, list...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// checkContents decodes every state, and compares what is noted of it. A bad one
// of a turn costs time only: the state is read again from the tokens. One of the
// library is lost.
func (s *Store) checkContents(ctx context.Context) (bad []Problem, err error) {
	err = s.eachBadContent(ctx, func(c badContent) {
		switch {
		case c.name.Valid:
			bad = append(bad, Problem{What: fmt.Sprintf("the state %.100q of the library: %v", c.name.V, c.wrong), Lost: true})
		case c.turn.Valid:
			bad = append(bad, Problem{What: fmt.Sprintf("the state of turn %d: %v", c.turn.V, c.wrong)})
		default:
			bad = append(bad, Problem{What: "a state belongs to nothing and takes room"})
		}
	})
	return bad, err
}

// A badContent is a state that is damaged, or that nothing has.
type badContent struct {
	id    int64
	turn  sql.Null[int64]  // the first that has it
	name  sql.Null[string] // in the library
	wrong error            // nil: nothing has it
}

func (s *Store) eachBadContent(ctx context.Context, visit func(badContent)) error {
	rows, err := s.read.QueryContext(ctx, `SELECT c.id, (SELECT min(turn) FROM snapshots WHERE content = c.id),
		(SELECT min(name) FROM states WHERE content = c.id), c.sum, c.bytes, c.data FROM contents c ORDER BY c.id`)
	if err != nil {
		return err
	}
	_, err = collect(rows, func(row scanner) (none, error) {
		var c badContent
		var sum, data []byte
		var bytes int
		if err := row.Scan(&c.id, &c.turn, &c.name, &sum, &bytes, &data); err != nil {
			return none{}, err
		}
		c.wrong = new(infer.Snapshot).UnmarshalBinary(data)
		if now := sha256.Sum256(data); c.wrong == nil && (!slices.Equal(sum, now[:]) || bytes != len(data)) {
			c.wrong = errors.New("what is noted of it is not what is stored")
		}
		if c.wrong != nil || !c.turn.Valid && !c.name.Valid {
			visit(c)
		}
		return none{}, nil
	})
	return err
}

// checkSnapshots compares what is noted of snapshots with turns and contents.
func (s *Store) checkSnapshots(ctx context.Context) ([]Problem, error) {
	bad, err := s.badSnapshots(ctx)
	var problems []Problem
	for _, id := range bad {
		problems = append(problems, Problem{What: fmt.Sprintf("what is noted of the state of turn %d is not what is stored", id)})
	}
	return problems, err
}

// badSnapshots are those of turns of which something else is noted than is stored.
func (s *Store) badSnapshots(ctx context.Context) ([]int64, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.turn FROM snapshots s LEFT JOIN turns t ON t.id = s.turn LEFT JOIN contents c ON c.id = s.content
		WHERE c.bytes IS NOT s.bytes OR s.conversation IS NOT t.conversation`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (int64, error) {
		var id int64
		return id, row.Scan(&id)
	})
}

// A Size says what the database occupies.
type Size struct {
	Bytes                    int64 // of the database file and its log
	Conversations, Turns     int
	Snapshots, SnapshotBytes int64
}

// Size measures the database.
func (s *Store) Size(ctx context.Context) (Size, error) {
	var z Size
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size),
		(SELECT count(*) FROM conversations), (SELECT count(*) FROM turns),
		(SELECT count(*) FROM snapshots), (SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM snapshots GROUP BY content))`).
		Scan(&z.Bytes, &z.Conversations, &z.Turns, &z.Snapshots, &z.SnapshotBytes)
	return z, explain("measuring "+s.path, err)
}
