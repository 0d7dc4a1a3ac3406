package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// foundAtMost is how many places a search gives.
const foundAtMost = 200

// A Found is a turn of a stored conversation that holds a text.
type Found struct {
	Conversation ID
	Turn         ID
	Role         Role
	Snippet      string   // a few words around the first match, on one line
	Marks        [][2]int // byte ranges of Snippet that match, in order
	When         time.Time
}

// A searcher is a Store that can search the text of all its turns: those of
// conversations that were thrown away are left out. The best come first.
type searcher interface {
	Search(ctx context.Context, query string, limit int) ([]Found, error)
}

// ErrNoSearch is the answer of a store that cannot search.
var ErrNoSearch = errors.New("this store cannot be searched")

// Search finds turns that hold a text. It blocks.
func (k *Desk) Search(ctx context.Context, query string) ([]Found, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	s, ok := k.store.(searcher)
	if !ok {
		return nil, ErrNoSearch
	}
	found, err := s.Search(ctx, query, foundAtMost)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", query, err)
	}
	return found, nil
}
