package keys

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// A Map says which keys do what. It is immutable and safe for concurrent use.
type Map struct {
	keys   map[ID][]string
	lookup map[bound]ID
}

// bound is a key in one single context.
type bound struct {
	context Context
	key     string
}

var single = []Context{Composer, Transcript, Panel, List, Setup, Panes}

// Default is the map of the table alone.
func Default() Map {
	m, err := New(nil)
	if err != nil {
		panic("keys: the table contradicts itself: " + err.Error())
	}
	return m
}

// New is the table with the overrides of a configuration: action ids to lists
// of keys, which replace the action's own; an empty list leaves it without a
// key. The error names everything that is wrong.
func New(overrides map[string][]string) (Map, error) {
	m := Map{keys: make(map[ID][]string, len(table)), lookup: map[bound]ID{}}
	var errs []error
	for name := range overrides {
		if _, ok := byID[ID(name)]; !ok {
			errs = append(errs, fmt.Errorf("keys.%s: there is no such action%s", name, suggest(name)))
		}
	}
	for _, a := range table {
		list, changed := overrides[string(a.ID)]
		if !changed {
			list = a.Keys
		}
		for _, raw := range list {
			key, err := Normalize(raw)
			if err == nil && changed && a.contexts(key) == 0 {
				err = fmt.Errorf("%q types a character where this action is used; add ctrl+ or alt+", raw)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("keys.%s: %w", a.ID, err))
				continue
			}
			if !slices.Contains(m.keys[a.ID], key) {
				m.keys[a.ID] = append(m.keys[a.ID], key)
			}
		}
	}
	errs = append(errs, m.index(overrides)...)
	sort.Slice(errs, func(i, j int) bool { return errs[i].Error() < errs[j].Error() })
	return m, errors.Join(errs...)
}

// index fills the lookup table and reports keys with two meanings in one context.
func (m *Map) index(overrides map[string][]string) []error {
	var errs []error
	reported := map[string]bool{}
	for _, a := range table {
		for _, key := range m.keys[a.ID] {
			for _, c := range single {
				if a.contexts(key)&c == 0 {
					continue
				}
				other, taken := m.lookup[bound{c, key}]
				if !taken {
					m.lookup[bound{c, key}] = a.ID
					continue
				}
				// name the action that the configuration changed first
				first, second := a.ID, other
				if _, changed := overrides[string(a.ID)]; !changed {
					first, second = other, a.ID
				}
				line := fmt.Sprintf("keys.%s: %q is also the key of %s; give one of them another key", first, key, second)
				if !reported[line] {
					reported[line] = true
					errs = append(errs, errors.New(line))
				}
			}
		}
	}
	return errs
}

// contexts are those in which one of the action's keys is active. A key that
// types a character is text wherever text is written, and belongs to the
// messages alone where an action is used in several places.
func (a Action) contexts(key string) Context {
	if !Printable(key) {
		return a.Contexts
	}
	if a.Contexts&Transcript != 0 {
		return Transcript
	}
	return a.Contexts &^ (Composer | List)
}

// Lookup returns the action of a pressed key, named as the terminal library
// names it, in one single context.
func (m Map) Lookup(c Context, key string) (ID, bool) {
	id, ok := m.lookup[bound{c, key}]
	return id, ok
}

// Keys are the keys of an action, the one to show first.
func (m Map) Keys(id ID) []string { return m.keys[id] }

// In are those of an action's keys that are active in a context.
func (m Map) In(c Context, id ID) []string {
	var active []string
	for _, key := range m.keys[id] {
		if m.lookup[bound{c, key}] == id {
			active = append(active, key)
		}
	}
	return active
}

// Hint is the key to show for an action in a context, "" if it has none there.
// Among the messages a single character is shown rather than a combination.
func (m Map) Hint(c Context, id ID) string {
	active := m.In(c, id)
	if c == Transcript && len(active) > 0 && strings.Contains(active[0], "+") {
		if i := slices.IndexFunc(active, Printable); i >= 0 {
			return active[i]
		}
	}
	if len(active) > 0 {
		return active[0]
	}
	return ""
}

// suggest names actions that look like an unknown one.
func suggest(name string) string {
	var near []string
	for _, a := range table {
		if strings.Contains(string(a.ID), name) || strings.Contains(name, string(a.ID)) {
			near = append(near, string(a.ID))
		}
	}
	if len(near) == 0 || len(near) > 3 {
		return "; docs/keys.md lists them"
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
