package main

import (
	"context"
	"runtime/debug"

	"rookery/chat"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/load"
)

// secondModelSlots are enough for all variants of a comparison, each with a mix of two
// states. Variants that need more wait for each other.
const secondModelSlots = 2 * chat.MaxCompare

// secondModels returns what loads other models for comparisons, with the configured
// settings of the chat's own model.
func secondModels(c config.Config) chat.ModelOpener {
	return func(ctx context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
		own := c
		own.Model = config.Model{Path: path}
		own.Engine.Slots = secondModelSlots
		m, backend, err := load.Open(ctx, modelSpec(own, nil), func(p load.Progress) { progress(p.Done, p.Total) })
		if err != nil {
			return chat.Opened{}, err
		}
		e := infer.NewEngine(m, backend, infer.Options{Chunk: own.Engine.Chunk, Resident: -1})
		open, builtIn := adaptersOf(m)
		return chat.Opened{Engine: e, Adapters: open, BuiltIn: builtIn, Close: func() error {
			err := e.Close()
			debug.FreeOSMemory() // the weights are gone at once, not with the next collection
			return err
		}}, nil
	}
}
