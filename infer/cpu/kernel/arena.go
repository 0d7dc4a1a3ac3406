package kernel

import (
	"fmt"
	"sync"
)

const (
	cacheLine   = 64
	arenaRegion = 64 << 20
)

// An Arena is memory for weights, states and activations outside the garbage
// collector's heap: aligned to cache lines, on huge pages where the system
// has them, zeroed. It grows by regions that are only mapped, so memory that
// is not written costs nothing. Its methods are safe for concurrent use.
type Arena struct {
	mu      sync.Mutex
	regions [][]byte
	free    []byte
	used    int64
}

// NewArena makes an empty arena. Close it when nothing made from it is used
// any more.
func NewArena() *Arena { return new(Arena) }

// Alloc gives n zeroed bytes, aligned to a cache line.
func (a *Arena) Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("cannot allocate %d bytes", n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	size := (n + cacheLine - 1) &^ (cacheLine - 1)
	if size > len(a.free) {
		region, err := mapRegion(max(size, arenaRegion))
		if err != nil {
			return nil, fmt.Errorf("allocate %d MB of memory: %w", size>>20, err)
		}
		a.regions = append(a.regions, region)
		if size >= arenaRegion { // leave the rest of the current region in use
			a.used += int64(size)
			return region[:n:size], nil
		}
		a.free = region
	}
	b := a.free[:n:size]
	a.free = a.free[size:]
	a.used += int64(size)
	return b, nil
}

// Floats gives n zeroed float32, aligned to a cache line.
func (a *Arena) Floats(n int) ([]float32, error) {
	b, err := a.Alloc(4 * n)
	if err != nil {
		return nil, err
	}
	return floatsOf(b), nil
}

// Used is the number of bytes handed out.
func (a *Arena) Used() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// Close gives the memory back. Nothing made from the arena may be touched
// afterwards.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first error
	for _, r := range a.regions {
		if err := unmapRegion(r); err != nil && first == nil {
			first = fmt.Errorf("release %d MB of memory: %w", len(r)>>20, err)
		}
	}
	a.regions, a.free, a.used = nil, nil, 0
	return first
}
