package chat

import (
	"context"
	"strings"

	"rookery/chat/turn"
)

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

// Mixes are those that were saved, see Library.
func (k *Workspace) Mixes(ctx context.Context) ([]turn.NamedMix, error) { return k.library.Mixes(ctx) }

// SaveMix keeps a mix under a name, see Library.
func (k *Workspace) SaveMix(ctx context.Context, name string, m turn.Mix) (turn.NamedMix, error) {
	return k.library.SaveMix(ctx, name, m)
}

// FindMix is a saved mix that the conversations' model can use, by its name.
func (k *Workspace) FindMix(ctx context.Context, name string) (turn.Mix, error) {
	return k.library.FindMix(ctx, name, k.engine.Model())
}

// DeleteMix forgets a saved mix. Conversations that use it keep it.
func (k *Workspace) DeleteMix(ctx context.Context, name string) error {
	return k.library.DeleteMix(ctx, name)
}

// ParseMix reads "state=weight,..." with states of the library that the
// conversations' model can use; "off" is no mix.
func (k *Workspace) ParseMix(ctx context.Context, text string) (turn.Mix, error) {
	if strings.EqualFold(strings.TrimSpace(text), "off") {
		return turn.Mix{}, nil
	}
	m, err := k.library.ParseMix(ctx, text)
	if err != nil {
		return turn.Mix{}, err
	}
	return m, k.library.CheckMix(ctx, m, k.engine.Model())
}

// Rereads is how many tokens of the line the next answer reads again because
// the mix of the conversation has states that have not read them. Without a
// mix it is none: the conversation's own state is beside those of any mix.
func (v *View) Rereads() int {
	mix := v.Conversation.Mix
	if !mix.Active() {
		return 0
	}
	turns, n := v.Turns, 0
	if len(turns) > 0 && turns[len(turns)-1].Role == turn.RoleUser {
		turns = turns[:len(turns)-1] // it has to be read in any case
	}
	for i := len(turns) - 1; i >= 0; i-- {
		t := turns[i]
		if t.Role == turn.RoleAssistant && t.Mix.Same(mix) {
			break
		}
		if t.Recall != nil {
			n += len(t.Recall)
		} else {
			n += len(t.Tokens)
		}
	}
	return n
}
