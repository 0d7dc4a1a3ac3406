package sessions

import (
	"context"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
)

// grow does what makes a tree more than a line: forks, several answers to one
// prompt, edits of what was said, and conversations from mixes.
func (v *victim) grow(ctx context.Context, at int) error {
	d := v.open[at]
	view := d.View()
	if len(view.Alternatives) > 0 && v.rng.IntN(3) > 0 {
		return v.keep(d, view)
	}
	switch n := v.rng.IntN(12); {
	case n >= 10:
		return phase("compare", func() error { return v.compare(ctx, d) })
	case n < 3:
		return phase("best", func() error {
			if v.rng.IntN(3) == 0 {
				return d.Best(2 + v.rng.IntN(3))
			}
			return d.SendBest(v.words(), 2+v.rng.IntN(3))
		})
	case n < 5:
		return v.fork(ctx, at, view)
	case n < 6:
		return v.mix(ctx, at)
	case len(view.Turns) == 0:
		return nil
	default:
		t := view.Turns[v.rng.IntN(len(view.Turns))]
		return phase("edit", func() error { return v.edit(d, t) })
	}
}

// keep chooses from several answers, while they run or after that. What it
// removes is said before.
func (v *victim) keep(d *chat.Dialogue, view chat.View) error {
	drop := v.rng.IntN(2) == 0
	var kept []turn.ID
	for _, row := range view.Alternatives {
		if v.rng.IntN(2) == 0 {
			kept = append(kept, row.Turn.ID)
		} else if drop {
			shout("dropped %d %d", d.ID(), row.Turn.ID)
		}
	}
	return phase("keep", func() error { return d.ChooseAlternatives(kept, drop) })
}

// fork opens one or two conversations from a turn, and goes on in one of them.
func (v *victim) fork(ctx context.Context, at int, view chat.View) error {
	line := slices.Concat(view.Turns, view.Ahead)
	if len(line) == 0 {
		return nil
	}
	turns := 1 + v.rng.IntN(len(line))
	var forks []*chat.Dialogue
	err := phase("fork", func() (err error) {
		forks, err = v.workspace.Fork(v.open[at], line[turns-1].ID, 1+v.rng.IntN(2))
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range forks {
		shout("forked %d %d", f.ID(), turns)
	}
	for _, f := range forks[1:] {
		v.workspace.CloseDialogue(f)
	}
	return v.replace(ctx, at, forks[0])
}

// edit gives any turn of the line another version.
func (v *victim) edit(d *chat.Dialogue, t turn.Turn) error {
	switch {
	case t.Role == turn.RoleUser:
		return d.EditTurn(t.ID, v.words())
	case v.rng.IntN(3) == 0 && len(t.Tokens) > 0:
		return d.Branch(t.ID, v.rng.IntN(len(t.Tokens)), int32(1+v.rng.IntN(100)))
	}
	text := t.Text[:v.rng.IntN(len(t.Text)+1)]
	return d.EditAnswer(t.ID, strings.ToValidUTF8(text, "")+v.words(), v.rng.IntN(2) == 0)
}

// mix begins a conversation that mixes states of the library, as it will to
// its end: what answers are made of can be told from the conversation then.
func (v *victim) mix(ctx context.Context, at int) error {
	states, err := v.workspace.Library().List(ctx)
	if err != nil || len(states) == 0 {
		return err
	}
	m := turn.Mix{Own: turn.MixMember{Name: "own", Weight: 1}}
	for _, s := range states[:min(len(states), 1+v.rng.IntN(2))] {
		m.Others = append(m.Others, turn.MixMember{State: s.ID, Name: s.Name, Weight: float32(v.rng.IntN(5)-1) / 4})
	}
	d := v.workspace.New()
	if err := d.SetMix(m); err != nil {
		return err
	}
	if err := v.replace(ctx, at, d); err != nil {
		return err
	}
	v.about(d.ID())
	return phase("mix", func() error { return d.Send(v.words()) })
}

// begins is where conversations begin: their base, with the states of the mix
// beside it. ok is false if one of them is not there.
func (r *inquest) begins(s *Store, c turn.Conversation) (from infer.Request, ok bool) {
	t := r.t
	if c.Base != 0 {
		st, err := s.State(t.Context(), c.Base)
		if err != nil {
			t.Errorf("conversation %d begins from state %d: %v", c.ID, c.Base, err)
			return from, false
		}
		from.From = st.Snapshot
	}
	if !c.Mix.Active() {
		return from, true
	}
	members, err := library.New(s, nil).LoadMembers(t.Context(), c.Mix, r.engine.Model(), "", "")
	if err != nil {
		t.Errorf("conversation %d mixes: %v", c.ID, err)
		return from, false
	}
	from.Weight, from.Members = c.Mix.Weights()[0], members
	return from, true
}
