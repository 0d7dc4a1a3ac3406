package rwkv

import (
	"slices"
	"strings"
)

// A Version is a generation of RWKV. The zero Version is Unknown.
type Version uint8

// The versions, oldest first.
const (
	Unknown Version = iota
	V4
	V50
	V51
	V52
	V6
	V7A // beside V7, which is the newest
	V7
)

// versions is the table of all versions. One without an architecture is
// recognised and refused by name.
var versions = [...]struct {
	name, id string
	arch     architecture
}{
	Unknown: {name: "an unknown architecture"},
	V4:      {name: "RWKV-4", id: "x040", arch: v4{}},
	V50:     {name: "RWKV-5.0", id: "x050", arch: v5{V50}},
	V51:     {name: "RWKV-5.1", id: "x051", arch: v5{V51}},
	V52:     {name: "RWKV-5.2", id: "x052", arch: v5{V52}},
	V6:      {name: "RWKV-6", id: "x060", arch: v6{}},
	V7A:     {name: "RWKV-7a", id: "x070a", arch: v7a{}},
	V7:      {name: "RWKV-7", id: "x070", arch: v7{}},
}

// An architecture is what a version's file says about it. The rest of the
// program asks a Shape, which asks the architecture of its version. The
// formulas are in the backends, which have a file for each version too.
type architecture interface {
	// recognises says whether a file with these tensors is of the version.
	recognises(s *survey) bool
	// complete fills the sizes that versions read from different tensors:
	// Heads, HeadSize and Ranks. What cannot be read stays 0.
	complete(s *survey, shape *Shape)
	// sources are the tensors that the sizes of a shape are read from.
	sources(Shape) []source
	// modelTensors are the tensors outside the layers, layerTensors those of
	// every layer, both in the order of the released files.
	modelTensors() []TensorSpec
	layerTensors() []TensorSpec
	// ranks names the entries of Shape.Ranks.
	ranks() []string
	// state is what one layer keeps of the tokens that it has read.
	state(Shape) []StatePart
	// released are the shapes of published models, by their size: "0.1b".
	released() map[string]Shape
}

// A source is a tensor that a size of the model is read from.
type source struct {
	tensor string
	dim    Dim
	what   string // the size, for people, in the plural
	most   int    // the largest size that is accepted
}

// String names the version as its authors do: "RWKV-7 (x070)".
func (v Version) String() string {
	if int(v) >= len(versions) {
		v = Unknown
	}
	if id := versions[v].id; id != "" {
		return versions[v].name + " (" + id + ")"
	}
	return versions[v].name
}

// ID is the short name of the version in files: "x070". Unknown has none.
func (v Version) ID() string { return versions[v].id }

// VersionOf is the version with an ID, if this program can run it.
func VersionOf(id string) (Version, bool) {
	for _, v := range Runnable() {
		if v.ID() == id {
			return v, true
		}
	}
	return Unknown, false
}

// Runnable are the versions that this program can run, oldest first.
func Runnable() []Version {
	var out []Version
	for v := range versions {
		if versions[v].arch != nil {
			out = append(out, Version(v))
		}
	}
	return out
}

// Newest is the newest version that this program can run.
func Newest() Version {
	all := Runnable()
	return all[len(all)-1]
}

// Released are the shapes of published models: those of the newest version by their
// size, "0.1b", and those of the others by version and size, "x060-1.6b".
func Released() map[string]Shape {
	out := map[string]Shape{}
	for _, v := range Runnable() {
		for size, shape := range versions[v].arch.released() {
			if v != Newest() {
				size = v.ID() + "-" + size
			}
			out[size] = shape
		}
	}
	return out
}

// Names lists versions for people: "RWKV-6 (x060) and RWKV-7 (x070)".
func Names(of []Version) string {
	var names []string
	for _, v := range of {
		names = append(names, v.String())
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// CheckRunnable says that what runs models of some versions cannot run one of
// shape s, or nil. The error is one line; where names the place: "the CPU".
func (s Shape) CheckRunnable(where string, runs []Version) error {
	if slices.Contains(runs, s.Version) {
		return nil
	}
	return &UnsupportedError{Version: s.Version, What: s.Version.String(), Where: where, Runs: runs}
}

// arch is the architecture of a shape, or nil for one that cannot be run.
func (s Shape) arch() architecture {
	if int(s.Version) >= len(versions) {
		return nil
	}
	return versions[s.Version].arch
}
