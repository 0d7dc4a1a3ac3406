package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// Mixes are those that were saved, the one used last first, with the names
// that their states have now.
func (k *Workspace) Mixes(ctx context.Context) ([]turn.NamedMix, error) {
	list, err := k.store.Mixes(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the saved mixes: %w", err)
	}
	states, err := k.library.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Mix = list[i].Mix.WithNames(states)
	}
	return list, nil
}

// SaveMix keeps a mix under a name; one that has the name is replaced.
func (k *Workspace) SaveMix(ctx context.Context, name string, m turn.Mix) (turn.NamedMix, error) {
	name, err := statefile.CleanName(name)
	switch {
	case err != nil:
		return turn.NamedMix{}, fmt.Errorf("a saved mix needs a name of 1 to %d bytes", statefile.MaxName)
	case !m.Active():
		return turn.NamedMix{}, errors.New("there is no mix to save: add a state to it first")
	}
	if err := m.Check(); err != nil {
		return turn.NamedMix{}, err
	}
	named := turn.NamedMix{Name: name, Mix: m, Used: time.Now()}
	if err := k.store.SaveMix(ctx, named); err != nil {
		return turn.NamedMix{}, fmt.Errorf("saving the mix %q: %w", name, err)
	}
	return named, nil
}

// FindMix is a saved mix that the model can use, by its name without regard
// to case.
func (k *Workspace) FindMix(ctx context.Context, name string) (turn.Mix, error) {
	list, err := k.Mixes(ctx)
	if err != nil {
		return turn.Mix{}, err
	}
	i := slices.IndexFunc(list, func(m turn.NamedMix) bool { return m.Name == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(m turn.NamedMix) bool { return strings.EqualFold(m.Name, name) })
	}
	if i < 0 {
		return turn.Mix{}, noMix(name, list)
	}
	taken := list[i]
	if err := checkMix(ctx, taken.Mix, k.library, k.engine.Model()); err != nil {
		return turn.Mix{}, err
	}
	taken.Used = time.Now()
	if err := k.store.SaveMix(ctx, taken); err != nil {
		return turn.Mix{}, fmt.Errorf("taking the mix %q: %w", taken.Name, err)
	}
	return taken.Mix, nil
}

// noMix says which mixes there are.
func noMix(name string, list []turn.NamedMix) error {
	if len(list) == 0 {
		return fmt.Errorf("there is no saved mix %q: none was saved yet", name)
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	return fmt.Errorf("there is no saved mix %q: there %s", name, turn.ListNames(names))
}

// DeleteMix forgets a saved mix. Conversations that use it keep it.
func (k *Workspace) DeleteMix(ctx context.Context, name string) error {
	if err := k.store.DeleteMix(ctx, name); err != nil {
		return fmt.Errorf("deleting the mix %q: %w", name, err)
	}
	return nil
}

// ParseMix reads "state=weight,..." with states of the library that the model
// can use; "off" is no mix.
func (k *Workspace) ParseMix(ctx context.Context, text string) (turn.Mix, error) {
	if strings.EqualFold(strings.TrimSpace(text), "off") {
		return turn.Mix{}, nil
	}
	m, err := ParseMix(ctx, k.library, text)
	if err != nil {
		return turn.Mix{}, err
	}
	return m, checkMix(ctx, m, k.library, k.engine.Model())
}

// fits says why a model cannot use a mix of the library's states, or nil. Their
// adapters are compared with the conversation's when it is used.
func checkMix(ctx context.Context, m turn.Mix, l *Library, model *infer.Model) error {
	_, err := loadMembers(ctx, m, l, model, "", func(*turn.State) error { return nil })
	return err
}
