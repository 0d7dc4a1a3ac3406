package turn

import (
	"cmp"
	"fmt"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
)

// An Adapter is one that conversations can use: where it is, and what a person
// said about it that its file does not.
type Adapter struct {
	Fingerprint string // of the file and of Options; "" if it was never read
	Name        string // of the file, or of the one that comes with the program
	Path        string // absolute; "" for one that comes with the program
	Options     adapter.Options
	Merged      bool // it has weights of its own: more memory, faster where most rows use it
	Used        time.Time
	// State is the name of the state that came with the file and is in the library
	// since the file was loaded just now, if there was one. It is not stored.
	State string
}

// A RegisteredAdapter is one of the adapter registry.
type RegisteredAdapter struct {
	Adapter
	Loaded *infer.LoadedAdapter // nil: it is loaded when it is needed
}

// Strength is what the whole change is multiplied with.
func (a Adapter) Strength() float32 {
	if a.Options.Strength == 0 {
		return 1
	}
	return a.Options.Strength
}

// Title is what people call it: its name, and its strength where that is not 1.
func (a Adapter) Title() string {
	if k := a.Strength(); k != 1 {
		return fmt.Sprintf("%s × %.3g", a.Name, k)
	}
	return a.Name
}

// SameFile says whether two adapters are the same but for their strength.
func (a Adapter) SameFile(b Adapter) bool {
	a.Options.Strength, b.Options.Strength = 0, 0
	return a.Path == b.Path && a.Name == b.Name && a.Options == b.Options
}

// WithOptions is the adapter with what o says. What o leaves open stays as it is,
// but for the strength, which is 1 unless o says it.
func (a Adapter) WithOptions(o adapter.Options) Adapter {
	was := a.Options
	if o.Alpha == 0 && o.Scale == 0 {
		o.Alpha, o.Scale = was.Alpha, was.Scale
	}
	o.Blocks, o.Init = cmp.Or(o.Blocks, was.Blocks), cmp.Or(o.Init, was.Init)
	o.Partial = o.Partial || was.Partial
	a.Fingerprint, a.Options = "", o // the file may be another by now
	return a
}
