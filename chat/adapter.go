package chat

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
}

// A RegisteredAdapter adapter is one of the adapter registry.
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

// kin says whether two adapters are the same but for their strength.
func (a Adapter) kin(b Adapter) bool {
	a.Options.Strength, b.Options.Strength = 0, 0
	return a.Path == b.Path && a.Name == b.Name && a.Options == b.Options
}

// answering is a with what o says; what o leaves open stays as it is, but for
// the strength, which is 1 unless it is said.
func (a Adapter) answering(o adapter.Options) Adapter {
	was := a.Options
	if o.Alpha == 0 && o.Scale == 0 {
		o.Alpha, o.Scale = was.Alpha, was.Scale
	}
	o.Blocks, o.Init = cmp.Or(o.Blocks, was.Blocks), cmp.Or(o.Init, was.Init)
	o.Partial = o.Partial || was.Partial
	a.Fingerprint, a.Options = "", o // the file may be another by now
	return a
}

func compareRegistered(a, b RegisteredAdapter) int {
	return cmp.Or(
		strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Strength(), b.Strength()), b.Used.Compare(a.Used), strings.Compare(a.Fingerprint, b.Fingerprint),
	)
}

// GroupByFamily groups a list so that adapters that differ in their strength alone
// are together, the one used last first.
func GroupByFamily(list []RegisteredAdapter) [][]RegisteredAdapter {
	var out [][]RegisteredAdapter
	for _, a := range list {
		i := slices.IndexFunc(out, func(f []RegisteredAdapter) bool { return f[0].kin(a.Adapter) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], a)
	}
	for _, f := range out {
		slices.SortStableFunc(f, func(a, b RegisteredAdapter) int { return b.Used.Compare(a.Used) })
	}
	return out
}

// choose finds an adapter of a list by fingerprint, title, file or name. A name
// that several files have is refused; one that is known at other strengths
// only is meant at 1.
func choose(list []RegisteredAdapter, name string) (Adapter, bool, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		path = name
	}
	var found []RegisteredAdapter
	for _, l := range list {
		if l.Fingerprint != "" && l.Fingerprint == name {
			return l.Adapter, true, nil
		}
		if l.Title() == name || l.Name == name || l.Path != "" && l.Path == path {
			found = append(found, l)
		}
	}
	slices.SortStableFunc(found, func(a, b RegisteredAdapter) int { return b.Used.Compare(a.Used) })
	if len(found) == 0 {
		return Adapter{}, false, nil
	}
	for _, l := range found[1:] {
		if first := found[0]; l.Path != first.Path {
			return Adapter{}, false, fmt.Errorf("%s and %s are both called %q: name one by its file", place(first.Adapter), place(l.Adapter), name)
		}
	}
	for _, l := range found {
		if l.Title() == name || l.Path == path && l.Strength() == 1 {
			return l.Adapter, true, nil
		}
	}
	return found[0].answering(adapter.Options{}), true, nil
}

// place is where an adapter is, for people.
func place(a Adapter) string {
	if a.Path == "" {
		return "the one that comes with the program"
	}
	return a.Path
}
