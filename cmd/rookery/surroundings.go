package main

import (
	"context"
	"os"
	"sync"

	"rookery/chat"
	"rookery/infer/gauge"
	"rookery/sessions"
	"rookery/ui"
)

// surroundings returns a function that reads what the monitor shows besides the
// engine. The first call looks for the library of the GPUs.
func surroundings(ctx context.Context, workspace *chat.Workspace, store *sessions.Store) func() ui.Surroundings {
	gpus := sync.OnceValue(func() *gauge.Gauge {
		g, err := gauge.Open()
		if err != nil {
			return nil // no GPU, or none that reports: the monitor shows the rest
		}
		return g
	})
	return func() ui.Surroundings {
		m := workspace.Memory()
		s := ui.Surroundings{InMemory: m.Bytes, MemoryBudget: m.Budget, Unsaved: m.Unsaved, Disk: diskBytes(store.Path())}
		if n, err := workspace.Adapters().Bytes(ctx); err == nil { // otherwise the engine is closing
			s.Adapters = n
		}
		if n, err := workspace.SecondModelBytes(ctx); err == nil {
			s.OtherModels = n
		}
		if g := gpus(); g != nil {
			if list, err := g.Read(); err == nil { // otherwise a GPU is lost, and the engine says so
				s.GPUs = list
			}
		}
		return s
	}
}

// diskBytes returns the size of a database with its log.
func diskBytes(path string) int64 {
	var sum int64
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
