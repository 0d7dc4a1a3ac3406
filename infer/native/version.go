package native

import (
	"maps"
	"slices"

	"rookery/infer/adapter"
	"rookery/infer/rwkv"
)

// A version is what the library must be told of a model version that it runs.
type version struct {
	// shape is a model's shape in the form of the library.
	shape func(rwkv.Shape) shape
	// targets are the library's numbers of the weights that adapters change.
	targets map[adapter.Target]int32
}

// versions are those that the library runs.
var versions = map[rwkv.Version]version{rwkv.V7: v7}

// Runs says whether the library runs a version.
func Runs(v rwkv.Version) bool {
	_, ok := versions[v]
	return ok
}

// checkVersion says that a GPU does not run a model's version, or nil.
func checkVersion(s rwkv.Shape) error {
	return s.CheckRunnable("a GPU", slices.Sorted(maps.Keys(versions)))
}
