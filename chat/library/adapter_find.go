package library

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rookery/chat/turn"
	"rookery/infer/adapter"
)

func compareRegistered(a, b turn.RegisteredAdapter) int {
	return cmp.Or(
		strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Strength(), b.Strength()), b.Used.Compare(a.Used), strings.Compare(a.Fingerprint, b.Fingerprint),
	)
}

// GroupByFamily groups a list so that adapters that differ in their strength alone
// are together, the one used last first.
func GroupByFamily(list []turn.RegisteredAdapter) [][]turn.RegisteredAdapter {
	var out [][]turn.RegisteredAdapter
	for _, a := range list {
		i := slices.IndexFunc(out, func(f []turn.RegisteredAdapter) bool { return f[0].SameFile(a.Adapter) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], a)
	}
	for _, f := range out {
		slices.SortStableFunc(f, func(a, b turn.RegisteredAdapter) int { return b.Used.Compare(a.Used) })
	}
	return out
}

// findAdapter finds an adapter of a list by fingerprint, title, file or name; by name
// as FindName does. A name that several files have is refused; one that is known at
// other strengths only is meant at 1.
func findAdapter(list []turn.RegisteredAdapter, name string) (turn.Adapter, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		path = name
	}
	var found []turn.RegisteredAdapter
	var names []string
	for _, l := range list {
		if l.Fingerprint != "" && l.Fingerprint == name {
			return l.Adapter, nil
		}
		if l.Title() == name || l.Name == name || l.Path != "" && l.Path == path {
			found = append(found, l)
		}
		if !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	if len(found) == 0 {
		i, err := FindName("adapter", name, names)
		if err != nil {
			return turn.Adapter{}, err
		}
		return findAdapter(list, names[i])
	}
	slices.SortStableFunc(found, func(a, b turn.RegisteredAdapter) int { return b.Used.Compare(a.Used) })
	for _, l := range found[1:] {
		if first := found[0]; l.Path != first.Path {
			return turn.Adapter{}, fmt.Errorf("%s and %s are both called %q: name one by its file", describePlace(first.Adapter), describePlace(l.Adapter), name)
		}
	}
	for _, l := range found {
		if l.Title() == name || l.Path == path && l.Strength() == 1 {
			return l.Adapter, nil
		}
	}
	return found[0].WithOptions(adapter.Options{}), nil
}

// describePlace is where an adapter is, for people.
func describePlace(a turn.Adapter) string {
	if a.Path == "" {
		return "the one that comes with the program"
	}
	return a.Path
}
