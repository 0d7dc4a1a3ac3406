package chat

import (
	"context"
	"fmt"
	"rookery/chat/turn"
	"strings"
)

// foundAtMost is how many places a search gives.
const foundAtMost = 200

// Search finds turns that hold a text. It blocks.
func (k *Workspace) Search(ctx context.Context, query string) ([]turn.SearchHit, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	found, err := k.store.Search(ctx, query, foundAtMost)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", query, err)
	}
	return found, nil
}
