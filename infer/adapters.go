package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"rookery/infer/adapter"
)

// ErrNoAdapters says that the backend cannot run adapters.
var ErrNoAdapters = errors.New("this backend cannot use adapters: the CPU's can (--backend cpu)")

// A LoadedAdapter is one that requests can name.
type LoadedAdapter struct {
	*adapter.Adapter
	Merged bool  // it has weights of its own
	Bytes  int64 // what it takes beside the weights
	Rows   int   // running and waiting requests that use it
}

// A fitted adapter is one that the backend has.
type fitted struct {
	LoadedAdapter
	id AdapterID
}

// LoadAdapter makes an adapter known to the backend, between two steps.
// Nothing that runs is disturbed. One that is loaded already, in the same way,
// stays as it is.
func (e *Engine) LoadAdapter(ctx context.Context, a *adapter.Adapter, merged bool) error {
	return e.call(ctx, func() error {
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
		e.adapters[a.Fingerprint] = &fitted{LoadedAdapter{Adapter: a, Merged: merged, Bytes: b.AdapterBytes(id)}, id}
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

// DropAdapter gives an adapter's memory back. It is refused while requests use it.
func (e *Engine) DropAdapter(ctx context.Context, fingerprint string) error {
	return e.call(ctx, func() error {
		f := e.adapters[fingerprint]
		if f == nil {
			return nil
		}
		if n := e.users(fingerprint); n > 0 {
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

// Adapters are those that are loaded, by name. It waits for the end of the
// running step.
func (e *Engine) Adapters(ctx context.Context) ([]LoadedAdapter, error) {
	var list []LoadedAdapter
	err := e.call(ctx, func() error {
		for fingerprint, f := range e.adapters {
			l := f.LoadedAdapter
			l.Rows = e.users(fingerprint)
			list = append(list, l)
		}
		return nil
	})
	if err != nil {
		return nil, err // the engine may still be at the list
	}
	slices.SortFunc(list, func(a, b LoadedAdapter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return list, nil
}

// users counts the requests that use an adapter.
func (e *Engine) users(fingerprint string) int {
	n := 0
	for _, q := range slices.Concat(e.line, e.running) {
		if q.req.Adapter == fingerprint || q.mix != nil && slices.ContainsFunc(q.mix.voices, func(v member) bool { return v.Adapter == fingerprint }) {
			n++
		}
	}
	return n
}

// adapt finds the adapter that a request names.
func (e *Engine) adapt(q *sequence) (err error) {
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

// takeAdapter takes over what Stream.SetAdapter left, for all states of a mix.
// An adapter that is not loaded is left alone.
func (e *Engine) takeAdapter(q *sequence) {
	if q.phase == phaseRewinding {
		return // it reads again what it has read
	}
	p := q.stream.adapter.Swap(nil)
	if p == nil {
		return
	}
	was := q.req.Adapter
	q.req.Adapter = *p
	if e.adapt(q) != nil {
		q.req.Adapter = was
		_ = e.adapt(q) // it is in use, and therefore loaded
	} else if q.mix != nil {
		for i := range q.mix.voices {
			v := &q.mix.voices[i]
			v.Adapter, v.adapter = *p, q.adapter
		}
	}
}

// readAgain gives a sequence that is read again the adapter that has read what
// comes next. One that was dropped since leaves that to the one in use.
func (e *Engine) readAgain(q *sequence) {
	if len(q.again) == 0 {
		return
	}
	id, err := e.adapterID(q.again[0].Adapter)
	if err != nil {
		q.again = nil
		return
	}
	q.req.Adapter, q.adapter = q.again[0].Adapter, id
	if q.mix != nil {
		for i := range q.mix.voices {
			v := &q.mix.voices[i]
			v.Adapter, v.adapter = q.req.Adapter, id
		}
	}
}

// call has the engine goroutine do something between two steps, and waits.
func (e *Engine) call(ctx context.Context, do func() error) error {
	result := make(chan error, 1)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.calls = append(e.calls, func() { result <- do() })
	e.mu.Unlock()
	e.rouse()
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
