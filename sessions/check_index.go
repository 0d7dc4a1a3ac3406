package sessions

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
)

const (
	// comparedBytes is up to how much text all entries of the index are compared:
	// that takes seconds for some megabytes.
	comparedBytes = 4 << 20
	// comparedTexts is how many texts, drawn at random, are compared of more.
	comparedTexts = 50
)

// checkIndex makes the entries of texts anew and compares them with those of the
// index: all of a small store, and of a large one those of some texts, and
// whether the others are there. One that is not in step finds less and is made
// anew.
func (s *Store) checkIndex(ctx context.Context) ([]Problem, error) {
	var bytes int64
	err := s.read.QueryRowContext(ctx, `SELECT coalesce(sum(sz), 0) FROM (SELECT length(text) AS sz FROM turns)`).Scan(&bytes)
	if err != nil {
		return nil, err
	}
	bad, err := s.compareIndex(ctx, bytes <= comparedBytes)
	if indexDamaged(err) {
		return []Problem{{What: fmt.Sprintf("the search index: %v", brief{err})}}, nil
	}
	return bad, err
}

func (s *Store) compareIndex(ctx context.Context, all bool) ([]Problem, error) {
	if all {
		return s.compareAll(ctx)
	}
	bad, err := s.compareRows(ctx)
	if err != nil || len(bad) > 0 {
		return bad, err
	}
	return s.compareSome(ctx)
}

const unindexed = `SELECT (SELECT count(*) FROM turns WHERE id NOT IN (SELECT id FROM search_docsize))
	+ (SELECT count(*) FROM conversations WHERE -id NOT IN (SELECT id FROM search_docsize))`

// Unindexed is how many texts a search does not find yet: after a large import an
// open chat adds them in the background.
func (s *Store) Unindexed(ctx context.Context) (n int, err error) {
	err = s.read.QueryRowContext(ctx, unindexed).Scan(&n)
	return n, explain("looking at the search index", err)
}

// compareRows compares which texts there are with which the index has.
func (s *Store) compareRows(ctx context.Context) (bad []Problem, err error) {
	for _, c := range []struct{ query, what string }{
		{unindexed, "%d texts are not in the search index yet: an open chat adds them"},
		{`SELECT count(*) FROM search_docsize WHERE id NOT IN (SELECT id FROM turns) AND -id NOT IN (SELECT id FROM conversations)`, "the search index has %d entries of nothing"},
	} {
		var n int64
		if err := s.read.QueryRowContext(ctx, c.query).Scan(&n); err != nil {
			return bad, err
		}
		if n > 0 {
			bad = append(bad, Problem{What: fmt.Sprintf(c.what, n)})
		}
	}
	return bad, nil
}

// compareSome asks the index for texts drawn at random, by all their entries.
func (s *Store) compareSome(ctx context.Context) (bad []Problem, err error) {
	var first, last int64
	if err := s.read.QueryRowContext(ctx, `SELECT min(id), max(id) FROM turns`).Scan(&first, &last); err != nil {
		return nil, err
	}
	for range comparedTexts {
		var id int64
		var text string
		if err := s.read.QueryRowContext(ctx, `SELECT id, text FROM turns WHERE id >= ? ORDER BY id LIMIT 1`, first+rand.Int64N(last-first+1)).Scan(&id, &text); err != nil {
			return bad, err
		}
		q := wanted{words: []string{indexed(text)}}
		var there bool
		if entries := q.entries(); entries == "" {
			continue
		} else if err := s.read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM search WHERE search MATCH ? AND rowid = ?`, entries, id).Scan(&there); err != nil {
			return bad, err
		}
		if !there {
			bad = append(bad, Problem{What: fmt.Sprintf("the search index is not in step with turn %d", id)})
		}
	}
	return bad, nil
}

// compareAll makes the entries of every text anew.
func (s *Store) compareAll(ctx context.Context) ([]Problem, error) {
	seed := maphash.MakeSeed()
	indexed, err := s.indexSums(ctx, seed)
	if err != nil {
		return nil, err
	}
	var bad []Problem
	for _, texts := range []struct{ query, what string }{
		{`SELECT id, text FROM turns`, "turn %d"},
		{`SELECT -id, title FROM conversations`, "the title of conversation %d"},
	} {
		rows, err := s.read.QueryContext(ctx, texts.query)
		if err != nil {
			return bad, err
		}
		_, err = collect(rows, func(row scanner) (none, error) {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			if indexed[id] != textSum(seed, text) {
				bad = append(bad, Problem{What: fmt.Sprintf("the search index is not in step with "+texts.what, max(id, -id))})
			}
			delete(indexed, id)
			return none{}, err
		})
		if err != nil {
			return bad, err
		}
	}
	for id := range indexed {
		bad = append(bad, Problem{What: fmt.Sprintf("the search index has entry %d of nothing", id)})
	}
	return bad, nil
}

// indexSums adds up the entries of every text in the index.
func (s *Store) indexSums(ctx context.Context, seed maphash.Seed) (map[int64]uint64, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT doc, term FROM search_terms`)
	if err != nil {
		return nil, err
	}
	sums := map[int64]uint64{}
	_, err = collect(rows, func(row scanner) (none, error) {
		var doc int64
		var term []byte
		err := row.Scan(&doc, &term)
		sums[doc] += maphash.Bytes(seed, term)
		return none{}, err
	})
	return sums, err
}

// textSum is what the index must have for a text.
func textSum(seed maphash.Seed, text string) (sum uint64) {
	trigrams(indexed(text), func(entry string) { sum += maphash.String(seed, entry) })
	return sum
}
