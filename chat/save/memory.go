package save

import (
	"container/list"
	"sync"

	"rookery/chat/turn"
	"rookery/infer"
)

// DefaultMemory is what snapshots may take in memory when nobody says otherwise.
const DefaultMemory = 1e9

// A MemoryTier is the host memory's tier of snapshots, one for all conversations
// of a workspace: from here a state wakes by one copy. When it is full, what was not
// used for longest goes first. A snapshot that still waits to be saved does not
// go: it would stay in memory all the same, and it is counted.
type MemoryTier struct {
	mu      sync.Mutex
	budget  int64
	bytes   int64
	entries map[turn.ID]*list.Element // of *warmEntry, by turn
	order   *list.List                // used last first
	read    map[infer.Prefix]turn.ID
	waiting map[turn.ID]int // writes of a turn's snapshot that are to be done
}

type memoryEntry struct {
	turn turn.ID
	snap *infer.Snapshot
}

// NewMemoryTier makes an empty memory tier with the default budget.
func NewMemoryTier() *MemoryTier {
	return &MemoryTier{
		budget: DefaultMemory, entries: map[turn.ID]*list.Element{}, order: list.New(),
		read: map[infer.Prefix]turn.ID{}, waiting: map[turn.ID]int{},
	}
}

// Hold keeps a turn's snapshot in memory; nil forgets it.
func (w *MemoryTier) Hold(id turn.ID, s *infer.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.entries[id]; e != nil {
		w.drop(e)
	}
	if s == nil {
		return
	}
	w.entries[id] = w.order.PushFront(&memoryEntry{id, s})
	w.bytes += s.HostBytes()
	if s.Prefix != (infer.Prefix{}) {
		w.read[s.Prefix] = id
	}
	w.evict()
}

// Get is a turn's snapshot, or nil.
func (w *MemoryTier) Get(id turn.ID) *infer.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.entries[id]
	if e == nil {
		return nil
	}
	w.order.MoveToFront(e)
	return entryOf(e).snap
}

// Find is a snapshot of one who has read what a prefix names, or nil.
func (w *MemoryTier) Find(p infer.Prefix) *infer.Snapshot {
	w.mu.Lock()
	id, ok := w.read[p]
	w.mu.Unlock()
	if !ok {
		return nil
	}
	return w.Get(id)
}

// wait counts the writes of a turn's snapshot that are to be done: by is 1
// when one is asked for and -1 when it is done or given up.
func (w *MemoryTier) wait(id turn.ID, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] += by; w.waiting[id] <= 0 {
		delete(w.waiting, id)
		w.evict()
	}
}

// SetBudget changes the budget.
func (w *MemoryTier) SetBudget(budget int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget = budget
	w.evict()
}

// entryOf is what an element of the list holds.
func entryOf(e *list.Element) *memoryEntry {
	entry, _ := e.Value.(*memoryEntry) // the list has nothing else
	return entry
}

// evict lets go of what was not used for longest. The caller holds mu.
func (w *MemoryTier) evict() {
	for e := w.order.Back(); e != nil && w.bytes > w.budget; {
		before := e.Prev()
		if w.waiting[entryOf(e).turn] == 0 {
			w.drop(e)
		}
		e = before
	}
}

func (w *MemoryTier) drop(e *list.Element) {
	entry := entryOf(e)
	w.order.Remove(e)
	delete(w.entries, entry.turn)
	if w.read[entry.snap.Prefix] == entry.turn {
		delete(w.read, entry.snap.Prefix)
	}
	w.bytes -= entry.snap.HostBytes()
}

// Memory is what snapshots take in host memory.
type Memory struct {
	Snapshots     int
	Bytes, Budget int64
	Unsaved       int64 // of Bytes, what waits to be saved
}

// Usage says what the snapshots take.
func (w *MemoryTier) Usage() Memory {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := Memory{Snapshots: len(w.entries), Bytes: w.bytes, Budget: w.budget}
	for id := range w.waiting {
		if e := w.entries[id]; e != nil {
			m.Unsaved += entryOf(e).snap.HostBytes()
		}
	}
	return m
}
