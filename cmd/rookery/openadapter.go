package main

import (
	"context"
	"errors"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/checkpoint"
	"rookery/infer/demo"
)

// useAdapters lets a workspace open adapters for its model.
func useAdapters(workspace *chat.Workspace) {
	workspace.UseAdapters(adaptersOf(workspace.Engine().Model()))
}

// adaptersOf returns what opens adapters for a model, and the names of those that come
// with the model.
func adaptersOf(m *infer.Model) (open library.AdapterOpener, own []string) {
	if m.Path == "" {
		for _, a := range demo.Adapters {
			own = append(own, a.Name)
		}
	}
	return func(_ context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
		return openAdapter(m, path, name, o)
	}, own
}

// openAdapter reads an adapter for a model from a file or, if path is empty, one that
// comes with the embedded model.
func openAdapter(m *infer.Model, path, name string, o adapter.Options) (a *adapter.Adapter, err error) {
	if path == "" {
		return demo.OpenAdapter(name, o)
	}
	weights, err := openWeights(m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, weights.Close()) }()
	return adapter.Open(path, m.Shape, adapter.BaseOf(weights), o)
}

// openWeights opens the file of a model once more, because some adapters depend on it.
func openWeights(m *infer.Model) (*checkpoint.File, error) {
	if m.Path == "" {
		return demo.Open()
	}
	return checkpoint.Open(m.Path)
}
