package cpu

import (
	"maps"
	"slices"

	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A version is how the CPU runs one model version.
type version struct {
	// layer makes an empty layer.
	layer func() layer
	// program makes what runs the layers. It takes its batches from the arena.
	program func(*runner, *kernel.Arena) (program, error)
	// weights are what synthetic weights of a layer are like, by tensor.
	weights func(rwkv.Shape) map[string]distribution
}

// versions are those that the CPU runs.
var versions = map[rwkv.Version]version{
	rwkv.V4:  {newV4Layer, newV4, v4Weights},
	rwkv.V50: {newV5Layer, newV5, v5Weights},
	rwkv.V51: {newV5Layer, newV5, v5Weights},
	rwkv.V52: {newV5Layer, newV5, v5Weights},
	rwkv.V6:  {newV6Layer, newV6, v6Weights},
	rwkv.V7A: {newV7aLayer, newV7a, v7aWeights},
	rwkv.V7:  {newV7Layer, newV7, v7Weights},
}

// checkVersion says that the CPU does not run a model's version, or nil.
func checkVersion(s rwkv.Shape) error {
	return s.CheckRunnable("the CPU", slices.Sorted(maps.Keys(versions)))
}

// A layer is the weights of one layer, in the form that its version computes
// with. Their names and sizes are those of rwkv.Shape.LayerTensors.
type layer interface {
	// places are where the layer keeps its tensors, by their names in it.
	places() places
	// clone is a layer that shares the weights and can be given others.
	clone() layer
	base() *layerBase
	// prepare computes what follows from the tensors, once these are there.
	prepare(rwkv.Shape)
}

// places are pointers to where tensors are kept: a *[]float32 for a vector, a
// *stack for several low-rank matrices, a **table for what stays in the file, a
// **kernel.Matrix for any other.
type places map[string]any

// with are both.
func (p places) with(more places) places {
	maps.Copy(p, more)
	return p
}

// A program runs the layers of one version, on the batch that a runner holds.
type program interface {
	// resize sets the number of tokens of its batches.
	resize(tokens int)
	// runLayer takes the batch through the runner's current layer: it reads the
	// residual stream and the states, and adds to both.
	runLayer()
	// reserveFor prepares for steps with a variant of the model.
	reserveFor(*variant) error
	close() error
}
