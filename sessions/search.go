package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rookery/chat/turn"
)

const (
	// queryRunes and queryWords bound what is searched for.
	queryRunes, queryWords = 1000, 16
	// entriesAtMost bounds the entries of the index that one search asks for.
	entriesAtMost = 64
	// candidatesAtMost is how many texts, the newest, one search reads.
	candidatesAtMost = 2000
	// readAtOnce is how many of them one query fetches.
	readAtOnce = 100
	// hitsPerFound and hitsAtLeast bound what is ranked: the newest of more.
	hitsPerFound, hitsAtLeast = 4, 200
	// newestFirst is how many turns are read before the index is asked for a
	// short word.
	newestFirst = 500
	// termRows bounds what a word of one or two characters reads of the index.
	termRows = 200_000
)

// Search finds turns and titles that hold all words of query, in any order
// and as parts of longer words; case does not matter and no character is
// special. Found.Turn is 0 for a title. Titles come first, then texts that hold
// the query as it stands, then those with more matches and newer ones.
// Conversations that were thrown away are left out. Of very many candidates
// the newest are looked at.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]turn.SearchHit, error) {
	const doing = "searching"
	q := newQuery(query)
	if len(q.words) == 0 || limit <= 0 {
		return nil, nil
	}
	hits, err := s.hits(ctx, q, max(hitsPerFound*limit, hitsAtLeast))
	if indexDamaged(err) {
		s.upkeep.breakIndex()
		return nil, fmt.Errorf("%s: the index is %w and is made anew: try again in a moment (%w)", doing, ErrDamaged, err)
	}
	if err != nil {
		return nil, explain(doing, err)
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.When.Compare(a.When))
	})
	hits = hits[:min(len(hits), limit)]
	found := make([]turn.SearchHit, len(hits))
	for i, h := range hits {
		found[i] = h.SearchHit
		found[i].Snippet, found[i].Marks = q.snippet(h.text)
	}
	return found, nil
}

// A wanted is what a search looks for, folded.
type wanted struct {
	words  []string // the longest first
	phrase string   // the query as it stands, one space between words
}

func newQuery(query string) wanted {
	runes := foldRunes(query[:min(len(query), queryRunes*utf8.UTFMax)])
	words := strings.Fields(string(runes[:min(len(runes), queryRunes)]))
	q := wanted{phrase: strings.Join(words, " ")}
	q.words = slices.Clone(words[:min(len(words), queryWords)])
	slices.SortStableFunc(q.words, func(a, b string) int { return utf8.RuneCountInString(b) - utf8.RuneCountInString(a) })
	q.words = slices.Compact(q.words)
	return q
}

// hits are candidates that match, the newest first and not many more than
// enough. For words too short for an entry the newest turns are read before
// the index is asked: a word that is in many of them is found there, and one
// that is not has few entries that begin with it.
func (s *Store) hits(ctx context.Context, q wanted, enough int) (hits []hit, err error) {
	sources := []string{`SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY abs(rowid) DESC LIMIT ?2`}
	args := [][]any{{q.entries(), candidatesAtMost}}
	if args[0][0] == "" {
		word := q.words[0]
		sources = []string{
			`SELECT id FROM turns ORDER BY id DESC LIMIT ?1`,
			`SELECT doc FROM (SELECT doc FROM search_terms WHERE term >= ?1 AND term < ?2 LIMIT ?3)
				GROUP BY doc ORDER BY abs(doc) DESC LIMIT ?4`,
		}
		args = [][]any{{newestFirst}, {word, word + string(utf8.MaxRune), termRows, candidatesAtMost}}
	}
	now := time.Now()
	seen := map[int64]bool{}
	for i, query := range sources {
		rows, err := s.candidates(ctx, query, args[i]...)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(id int64) bool { return seen[id] })
		for batch := range slices.Chunk(rows, readAtOnce) {
			texts, err := s.texts(ctx, batch)
			if err != nil {
				return nil, err
			}
			for _, t := range texts {
				if h, ok := q.match(t, now); ok {
					hits = append(hits, h)
				}
			}
			if len(hits) >= enough {
				return hits, nil
			}
		}
		for _, id := range rows {
			seen[id] = true
		}
	}
	return hits, nil
}

// entries is the index's query for all entries of the words; "" if they are
// too short for one.
func (q wanted) entries() string {
	var entries []string
	for _, word := range q.words {
		trigrams(word, func(entry string) {
			if len(entries) < entriesAtMost {
				entries = append(entries, `"`+strings.ReplaceAll(entry, `"`, `""`)+`"`)
			}
		})
	}
	return strings.Join(entries, " AND ")
}

// candidates are rows of the index that may match.
func (s *Store) candidates(ctx context.Context, query string, args ...any) ([]int64, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (int64, error) {
		var id int64
		return id, row.Scan(&id)
	})
}

// A hit is a candidate that matches.
type hit struct {
	turn.SearchHit
	text  string
	score float64
}

// texts reads candidates. Those that are gone since are left out.
func (s *Store) texts(ctx context.Context, rows []int64) ([]hit, error) {
	list, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	found, err := s.read.QueryContext(ctx, `
		SELECT t.conversation, t.id, t.role, t.created, t.text FROM json_each(?1) r
		  JOIN turns t ON t.id = r.value JOIN conversations c ON c.id = t.conversation WHERE c.deleted = 0
		UNION ALL
		SELECT c.id, 0, 0, c.updated, c.title FROM json_each(?1) r JOIN conversations c ON c.id = -r.value WHERE c.deleted = 0`, string(list))
	if err != nil {
		return nil, err
	}
	return collect(found, func(row scanner) (hit, error) {
		var h hit
		var at int64
		err := row.Scan(&h.Conversation, &h.Turn, &h.Role, &at, &h.text)
		h.When = decodeTime(at)
		return h, err
	})
}

// match says whether a text has every word, and how well it fits: more matches
// count ever less, and a month makes half of what news is worth.
func (q wanted) match(h hit, now time.Time) (hit, bool) {
	const title, phrase, news, month = 100, 4, 2, 30 * 24 * time.Hour
	folded := fold(h.text)
	matches := 0
	for _, word := range q.words {
		n := strings.Count(folded, word)
		if n == 0 {
			return h, false
		}
		matches += n
	}
	h.score = math.Log2(float64(1+matches)) + news/(1+max(now.Sub(h.When), 0).Seconds()/month.Seconds())
	if strings.Contains(strings.Join(strings.Fields(folded), " "), q.phrase) {
		h.score += phrase
	}
	if h.Turn == 0 {
		h.score += title
	}
	return h, true
}
