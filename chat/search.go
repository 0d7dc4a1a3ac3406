package chat

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// foundAtMost is how many places a search gives.
const foundAtMost = 200

// A SearchHit is a turn of a stored conversation that holds a text.
type SearchHit struct {
	Conversation ID
	Turn         ID
	Role         Role
	Snippet      string   // a few words around the first match, on one line
	Marks        [][2]int // byte ranges of Snippet that match, in order
	When         time.Time
}

// Search finds turns that hold a text. It blocks.
func (k *Workspace) Search(ctx context.Context, query string) ([]SearchHit, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	found, err := k.store.Search(ctx, query, foundAtMost)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", query, err)
	}
	return found, nil
}
