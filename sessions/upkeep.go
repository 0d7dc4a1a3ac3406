package sessions

import (
	"context"
	"os"
	"sync"
	"time"

	"rookery/chat"
)

const (
	// checkpointEvery is how often the write-ahead log is copied into the
	// database, away from any transaction.
	checkpointEvery = 2 * time.Second
	// checkpointBytes is the size of the log from which that is worth it.
	checkpointBytes = 8 << 20
)

// An upkeep is what waits to be done in the background.
type upkeep struct {
	mu          sync.Mutex
	retention   Retention
	used        map[chat.ID]time.Time // turns whose snapshots were read
	grown       map[chat.ID]bool      // conversations with new snapshots
	over        bool                  // the budget is to be looked at
	indexBroken bool
}

func newUpkeep() *upkeep {
	return &upkeep{
		retention: Retention{Budget: NoBudget}, // until someone sets one
		used:      map[chat.ID]time.Time{}, grown: map[chat.ID]bool{},
	}
}

// use notes that a turn's snapshot was read.
func (u *upkeep) use(turn chat.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[turn] = time.Now()
}

// grew notes that a conversation has a new snapshot.
func (u *upkeep) grew(conversation chat.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.grown[conversation] = true
	u.over = true
}

// take returns what is to be thinned and forgets it.
func (u *upkeep) take() (grown []chat.ID, used map[chat.ID]time.Time, over bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.grown {
		grown = append(grown, id)
	}
	used, over = u.used, u.over
	u.grown, u.used, u.over = map[chat.ID]bool{}, map[chat.ID]time.Time{}, false
	return grown, used, over
}

func (u *upkeep) indexIsBroken() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.indexBroken
}

func (u *upkeep) breakIndex() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.indexBroken = true
}

func (u *upkeep) mendIndex() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.indexBroken = false
}

// upkeepLoop does in the background what no transaction of a turn should have
// to: filling the index, thinning snapshots, copying a long log. What fails
// here fails at the next commit too, where it is reported.
func (s *Store) upkeepLoop(ctx context.Context) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	filling := true
	for ctx.Err() == nil {
		if filling || s.upkeep.indexIsBroken() {
			more, err := s.fillIndex(ctx)
			filling = more && err == nil
			if filling {
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.retain(ctx)
			s.checkpoint(ctx)
		}
	}
}

// checkpoint copies a long log into the database, so that no transaction has to.
func (s *Store) checkpoint(ctx context.Context) {
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() >= checkpointBytes {
		_, _ = s.read.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
}
