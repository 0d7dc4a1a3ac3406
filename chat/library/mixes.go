package library

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// ParseMix reads "state=weight,..."; "own" is the conversation's own state,
// whose weight is 0 if it is not named.
func (l *Library) ParseMix(ctx context.Context, text string) (turn.Mix, error) {
	m := turn.Mix{Own: turn.MixMember{Name: turn.OwnName}}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		weight, err := strconv.ParseFloat(strings.TrimSpace(number), 32)
		if !ok || err != nil || name == "" {
			return turn.Mix{}, fmt.Errorf("mix %q: write state=weight,state=weight", text)
		}
		if name == turn.OwnName {
			m.Own.Weight = float32(weight)
			continue
		}
		s, err := l.Find(ctx, name)
		if err != nil {
			return turn.Mix{}, err
		}
		m.Others = append(m.Others, turn.MixMember{State: s.ID, Name: s.Name, Weight: float32(weight)})
	}
	if !m.Active() {
		return turn.Mix{}, errors.New("a mix needs a state besides the conversation's own: write state=weight")
	}
	return m, m.Check()
}

// Mixes are those that were saved, the one used last first, with the names
// that their states have now.
func (l *Library) Mixes(ctx context.Context) ([]turn.NamedMix, error) {
	list, err := l.store.Mixes(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the saved mixes: %w", err)
	}
	states, err := l.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Mix = list[i].Mix.WithNames(states)
	}
	return list, nil
}

// SaveMix keeps a mix under a name; one that has the name is replaced.
func (l *Library) SaveMix(ctx context.Context, name string, m turn.Mix) (turn.NamedMix, error) {
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
	if err := l.store.SaveMix(ctx, named); err != nil {
		return turn.NamedMix{}, fmt.Errorf("saving the mix %q: %w", name, err)
	}
	return named, nil
}

// FindMix is a saved mix that a model can use, by its name as FindName finds it.
func (l *Library) FindMix(ctx context.Context, name string, m *infer.Model) (turn.Mix, error) {
	list, err := l.Mixes(ctx)
	if err != nil {
		return turn.Mix{}, err
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	i, err := FindName("saved mix", name, names)
	if err != nil {
		return turn.Mix{}, err
	}
	taken := list[i]
	if err := l.CheckMix(ctx, taken.Mix, m); err != nil {
		return turn.Mix{}, err
	}
	taken.Used = time.Now()
	if err := l.store.SaveMix(ctx, taken); err != nil {
		return turn.Mix{}, fmt.Errorf("taking the mix %q: %w", taken.Name, err)
	}
	return taken.Mix, nil
}

// DeleteMix forgets a saved mix. Conversations that use it keep it.
func (l *Library) DeleteMix(ctx context.Context, name string) error {
	if err := l.store.DeleteMix(ctx, name); err != nil {
		return fmt.Errorf("deleting the mix %q: %w", name, err)
	}
	return nil
}

// LoadMembers are the states of a mix as requests have them, at their
// beginning. A mix with states of another model than m, or of another adapter
// than the one that is used, is refused.
func (l *Library) LoadMembers(ctx context.Context, mix turn.Mix, m *infer.Model, adapter, adapterName string) ([]infer.Member, error) {
	return l.loadMembers(ctx, mix, m, adapter, func(s *turn.State) error { return s.CheckAdapter(adapter, adapterName) })
}

// loadMembers is LoadMembers with a check of its own beside that of the model.
func (l *Library) loadMembers(ctx context.Context, mix turn.Mix, m *infer.Model, adapter string, check func(*turn.State) error) ([]infer.Member, error) {
	var members []infer.Member
	weights := mix.Weights()
	for i, f := range mix.Others {
		s, err := l.Get(ctx, f.State)
		if err != nil {
			return nil, fmt.Errorf("the mix's state %q: %w", f.Name, err)
		}
		if err := check(&s); err != nil {
			return nil, err
		}
		from, err := s.Begin(m)
		if err != nil {
			return nil, err
		}
		members = append(members, infer.Member{Name: f.State.String(), Weight: weights[i+1], Adapter: adapter, State: from.State})
	}
	return members, nil
}

// CheckMix says why a model cannot use a mix, or nil. The states' adapters are
// compared with the conversation's when the mix is used.
func (l *Library) CheckMix(ctx context.Context, mix turn.Mix, m *infer.Model) error {
	_, err := l.loadMembers(ctx, mix, m, "", func(*turn.State) error { return nil })
	return err
}
