package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rookery/chat/turn"
	"rookery/infer"
)

// ParseMix reads "state=weight,..."; "own" is the conversation's own run, whose
// weight is 0 if it is not named.
func ParseMix(ctx context.Context, l *Library, text string) (turn.Mix, error) {
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

// LoadMembers are the states of a mix as requests have them, at their beginning: a
// mix of another model's or adapter's states is refused, naming both.
func LoadMembers(ctx context.Context, m turn.Mix, l *Library, model *infer.Model, adapter string) ([]infer.Member, error) {
	return loadMembers(ctx, m, l, model, adapter, func(s *turn.State) error { return s.CheckAdapter(adapter, "") })
}

// loadMembers is Voices with a check of its own beside that of the model.
func loadMembers(ctx context.Context, m turn.Mix, l *Library, model *infer.Model, adapter string, check func(*turn.State) error) ([]infer.Member, error) {
	var voices []infer.Member
	weights := m.Weights()
	for i, f := range m.Others {
		s, err := l.Get(ctx, f.State)
		if err != nil {
			return nil, fmt.Errorf("the mix's state %q: %w", f.Name, err)
		}
		if err := check(&s); err != nil {
			return nil, err
		}
		from, err := s.Begin(model)
		if err != nil {
			return nil, err
		}
		voices = append(voices, infer.Member{Name: f.State.String(), Weight: weights[i+1], Adapter: adapter, State: from.State})
	}
	return voices, nil
}

// SetMix gates the conversation's states anew. Weights count from the next
// token on, also of a running answer; other states from the next answer on,
// which reads the conversation again with all of them.
func (d *Dialogue) SetMix(m turn.Mix) error {
	if err := m.Check(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	d.conv.Mix = m
	for _, a := range d.following() {
		a.setMix(m)
	}
	d.saveHead()
	d.publish()
	return nil
}

// setMix moves the weights of a running answer, if it has these states. The
// caller holds mu.
func (a *answer) setMix(m turn.Mix) {
	if !a.turn.Mix.Same(m) {
		return
	}
	a.turn.Mix = m
	if a.stream != nil && m.Active() {
		a.stream.SetWeights(m.Weights())
	}
}
