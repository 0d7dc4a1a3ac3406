package sessions

import (
	"context"
	"fmt"
	"hash/maphash"
)

// checkIndex makes the entries of every text anew and compares them with those
// of the index. One that is not in step finds less and is made anew.
func (s *Store) checkIndex(ctx context.Context) ([]Problem, error) {
	seed := maphash.MakeSeed()
	indexed, err := s.indexSums(ctx, seed)
	if indexDamaged(err) {
		return []Problem{{What: fmt.Sprintf("the search index: %v", err)}}, nil
	}
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
