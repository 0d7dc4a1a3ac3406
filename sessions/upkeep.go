package sessions

import (
	"context"
	"os"
	"sync"
	"time"

	"rookery/chat/turn"
)

const (
	// upkeepEvery is how often there is a look at what is to be done.
	upkeepEvery = 2 * time.Second
	// checkpointBytes is the size of the log from which it is copied into the
	// database, away from any transaction, and how much of states makes that
	// due without waiting for the next look: a short log keeps the disk busy
	// for moments and not for half a second.
	checkpointBytes = 8 << 20
	// calm is how long after a state was read or written the disk and the cores
	// are left to those who may wait for the next one, or for a first token;
	// patience is for how long in all.
	calm     = 40 * time.Millisecond
	patience = time.Second
)

// An upkeep is what waits to be done in the background.
type upkeep struct {
	mu          sync.Mutex
	retention   Retention
	used        map[turn.ID]time.Time // turns whose snapshots were read
	grown       map[turn.ID]bool      // conversations with new snapshots
	over        bool                  // the budget is to be looked at
	readers     int                   // who wait for a state now
	last        time.Time             // when a state was read or written last
	logged      int64                 // bytes of states written since the last checkpoint
	due         chan struct{}         // 1 slot: logged is worth a checkpoint
	indexBroken bool
	unfilled    bool // texts are missing in the index
}

func newUpkeep() *upkeep {
	return &upkeep{
		retention: Retention{Budget: NoBudget}, // until someone sets one
		used:      map[turn.ID]time.Time{}, grown: map[turn.ID]bool{}, due: make(chan struct{}, 1),
	}
}

// use notes that a turn's snapshot was read.
func (u *upkeep) use(id turn.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[id] = time.Now()
}

// grew notes that a conversation has new snapshots of some bytes.
func (u *upkeep) grew(conversation turn.ID, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.grown[conversation] = true
	u.over, u.last = true, time.Now()
	if u.logged += bytes; u.logged >= checkpointBytes {
		select {
		case u.due <- struct{}{}:
		default:
		}
	}
}

// copied notes that a checkpoint begins.
func (u *upkeep) copied() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.logged = 0
}

// busy is for how long the disk is to be left to those who wait for states.
func (u *upkeep) busy() time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readers > 0 {
		return calm
	}
	return calm - time.Since(u.last)
}

// rest waits while states are read, and for a moment after that: what is to be
// done can wait, and who presses a key cannot.
func (u *upkeep) rest(ctx context.Context) {
	for end := time.Now().Add(patience); ctx.Err() == nil && time.Now().Before(end); {
		wait := u.busy()
		if wait <= 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// reading notes that someone waits for a state from here to the call of what
// it returns.
func (u *upkeep) reading() (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.readers++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.readers--
		u.last = time.Now()
	}
}

// take returns what is to be thinned and forgets it.
func (u *upkeep) take() (grown []turn.ID, used map[turn.ID]time.Time, over bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.grown {
		grown = append(grown, id)
	}
	used, over = u.used, u.over
	u.grown, u.used, u.over = map[turn.ID]bool{}, map[turn.ID]time.Time{}, false
	return grown, used, over
}

// fill notes that texts are missing in the index.
func (u *upkeep) fill() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unfilled = true
}

// filling takes note that the index is about to be filled, if it is to be.
func (u *upkeep) filling() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.unfilled || u.indexBroken
	u.unfilled = false
	return was
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
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	s.upkeep.fill()
	for ctx.Err() == nil {
		if s.upkeep.filling() {
			_ = s.fillIndex(ctx, nil)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.upkeep.due:
			s.upkeep.rest(ctx)
			s.checkpoint(ctx)
		case <-tick.C:
			s.upkeep.rest(ctx)
			_ = s.retain(ctx)
			s.checkpoint(ctx)
		}
	}
}

// checkpoint copies a long log into the database, so that no transaction has to.
func (s *Store) checkpoint(ctx context.Context) {
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() >= checkpointBytes {
		s.log.Lock()
		defer s.log.Unlock()
		s.upkeep.copied()
		s.copies++
		_ = gently(func() error {
			_, err := s.read.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
			return err
		})
	}
}
