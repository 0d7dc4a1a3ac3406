package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"rookery/infer/adapter"
)

// ErrNoAdapters says that the backend is no AdapterBackend.
var ErrNoAdapters = errors.New("this backend cannot use adapters: the CPU's can (--backend cpu)")

// A LoadedAdapter is an adapter that requests can name.
type LoadedAdapter struct {
	*adapter.Adapter
	Merged bool  // it has weights of its own
	Bytes  int64 // what it takes in memory beside the weights
	Rows   int   // running and waiting requests that use it
}

// A backendAdapter is a LoadedAdapter with its number in the backend.
type backendAdapter struct {
	LoadedAdapter
	id AdapterID
}

// LoadAdapter loads an adapter into the backend between two steps, beside running
// requests; merged is that of AdapterBackend.LoadAdapter. It does nothing if the
// adapter is loaded already, and fails if that has another merged.
func (e *Engine) LoadAdapter(ctx context.Context, a *adapter.Adapter, merged bool) error {
	return e.callBetweenSteps(ctx, func() error {
		b, ok := e.device.Backend.(AdapterBackend)
		if !ok {
			return ErrNoAdapters
		}
		if f := e.adapters[a.Fingerprint]; f != nil && f.Merged == merged {
			return nil
		} else if f != nil {
			return fmt.Errorf("adapter %s is loaded in the other way: drop it first", a.Name)
		}
		id, err := loadAdapter(b, a, merged)
		if err != nil {
			return err
		}
		e.adapters[a.Fingerprint] = &backendAdapter{LoadedAdapter{Adapter: a, Merged: merged, Bytes: b.AdapterBytes(id)}, id}
		e.monitor.observeMemory(e.device.Memory())
		e.mu.Lock()
		defer e.mu.Unlock()
		e.adapterNames[a.Fingerprint] = a.Name
		return nil
	})
}

func loadAdapter(b AdapterBackend, a *adapter.Adapter, merged bool) (id AdapterID, err error) {
	defer caught(&err, "loading an adapter")
	return b.LoadAdapter(a, merged)
}

// DropAdapter frees the memory of an adapter. It fails while requests use it.
func (e *Engine) DropAdapter(ctx context.Context, fingerprint string) error {
	return e.callBetweenSteps(ctx, func() error {
		f := e.adapters[fingerprint]
		if f == nil {
			return nil
		}
		if n := e.countUsers(fingerprint); n > 0 {
			return fmt.Errorf("adapter %s is in use by %d answers: stop them, or wait for their ends", f.Name, n)
		}
		b, ok := e.device.Backend.(AdapterBackend)
		if !ok {
			return ErrNoAdapters
		}
		delete(e.adapters, fingerprint)
		return b.DropAdapter(f.id)
	})
}

// Adapters lists the loaded adapters, sorted by name. It waits for the end of the
// running step.
func (e *Engine) Adapters(ctx context.Context) ([]LoadedAdapter, error) {
	var list []LoadedAdapter
	err := e.callBetweenSteps(ctx, func() error {
		for fingerprint, f := range e.adapters {
			l := f.LoadedAdapter
			l.Rows = e.countUsers(fingerprint)
			list = append(list, l)
		}
		return nil
	})
	if err != nil {
		return nil, err // the engine goroutine may still write the list
	}
	slices.SortFunc(list, func(a, b LoadedAdapter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return list, nil
}

// countUsers is the number of requests that use an adapter, or will from their next
// step on.
func (e *Engine) countUsers(fingerprint string) int {
	n := 0
	for _, q := range slices.Concat(e.waiting, e.running) {
		if next := q.stream.adapter.Load(); next != nil && *next == fingerprint || q.req.Adapter == fingerprint || q.mix != nil && slices.ContainsFunc(q.mix.members, func(v member) bool { return v.Adapter == fingerprint }) {
			n++
		}
	}
	return n
}

// resolveAdapter sets the number of the adapter that a request names.
func (e *Engine) resolveAdapter(q *sequence) (err error) {
	q.adapter, err = e.adapterID(q.req.Adapter)
	return err
}

func (e *Engine) adapterID(fingerprint string) (AdapterID, error) {
	if fingerprint == "" {
		return 0, nil
	}
	f := e.adapters[fingerprint]
	if f == nil {
		return 0, errors.New("the adapter of this answer is not loaded (any more): load it and go on from here")
	}
	return f.id, nil
}

// takeAdapter applies the adapter of the last Stream.SetAdapter to all states of q.
// It ignores one that is not loaded.
func (e *Engine) takeAdapter(q *sequence) {
	if q.phase == phaseRewinding {
		return // it reads tokens again, with the adapters that have read them
	}
	p := q.stream.adapter.Swap(nil)
	if p == nil {
		return
	}
	was := q.req.Adapter
	q.req.Adapter = *p
	if e.resolveAdapter(q) != nil {
		q.req.Adapter = was
		_ = e.resolveAdapter(q) // it cannot fail: an adapter in use is loaded
	} else if q.mix != nil {
		for i := range q.mix.members {
			v := &q.mix.members[i]
			v.Adapter, v.adapter = *p, q.adapter
		}
	}
}

// switchRereadAdapter gives a sequence that reads tokens again the adapter that has
// read the next of them. If that adapter was dropped since, the current one reads
// all that is left.
func (e *Engine) switchRereadAdapter(q *sequence) {
	if len(q.rereadSpans) == 0 {
		return
	}
	id, err := e.adapterID(q.rereadSpans[0].Adapter)
	if err != nil {
		q.rereadSpans = nil
		return
	}
	q.req.Adapter, q.adapter = q.rereadSpans[0].Adapter, id
	if q.mix != nil {
		for i := range q.mix.members {
			v := &q.mix.members[i]
			v.Adapter, v.adapter = q.req.Adapter, id
		}
	}
}

// callBetweenSteps lets the engine goroutine do something between two steps, and
// waits for it.
func (e *Engine) callBetweenSteps(ctx context.Context, do func() error) error {
	result := make(chan error, 1)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.calls = append(e.calls, func() { result <- do() })
	e.mu.Unlock()
	e.wakeUp()
	select {
	case err := <-result:
		return err
	case <-e.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-result:
		return err
	default:
		return ErrClosed
	}
}
