package native

import (
	"maps"
	"slices"

	"rookery/infer/adapter"
	"rookery/infer/rwkv"
)

// A version is what the library must be told of a model version that it runs.
type version struct {
	// number is the library's of the version.
	number int32
	// targets are the library's numbers of the weights that adapters change.
	targets map[adapter.Target]int32
}

// versions are those that the library runs.
var versions = map[rwkv.Version]version{rwkv.V4: v4, rwkv.V50: v50, rwkv.V51: v51, rwkv.V52: v52, rwkv.V6: v6, rwkv.V7: v7}

// shapeOf is a model's shape in the form of the library.
func shapeOf(s rwkv.Shape) shape {
	out := shape{
		version: versions[s.Version].number,
		layers:  int32(s.Layers), embed: int32(s.Embed), heads: int32(s.Heads), headSize: int32(s.HeadSize),
		ffn: int32(s.FFN), vocab: int32(s.Vocab),
	}
	for i := range out.ranks {
		out.ranks[i] = int32(s.Ranks[i])
	}
	return out
}

// Runs says whether the library runs a version.
func Runs(v rwkv.Version) bool {
	_, ok := versions[v]
	return ok
}

// checkVersion says that a GPU does not run a model's version, or nil.
func checkVersion(s rwkv.Shape) error {
	return s.CheckRunnable("a GPU", slices.Sorted(maps.Keys(versions)))
}
