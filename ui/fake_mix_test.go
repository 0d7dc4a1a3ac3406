package ui

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
)

// fakeMixes are saved mixes in memory.
type fakeMixes struct {
	saved []turn.NamedMix
	mix   turn.Mix // what ParseMix gives
}

func (k *fakeMixes) ParseMix(_ context.Context, text string) (turn.Mix, error) {
	if text == "off" {
		return turn.Mix{}, nil
	}
	if !k.mix.Active() {
		return turn.Mix{}, fmt.Errorf("there is no state %q", text)
	}
	return k.mix, nil
}

func (k *fakeMixes) Mixes(context.Context) ([]turn.NamedMix, error) { return k.saved, nil }

func (k *fakeMixes) FindMix(_ context.Context, name string) (turn.Mix, error) {
	for _, m := range k.saved {
		if m.Name == name {
			return m.Mix, nil
		}
	}
	return turn.Mix{}, fmt.Errorf("there is no saved mix %q", name)
}

func (k *fakeMixes) SaveMix(ctx context.Context, name string, m turn.Mix) (turn.NamedMix, error) {
	_ = k.DeleteMix(ctx, name)
	k.saved = append(k.saved, turn.NamedMix{Name: name, Mix: m})
	return k.saved[len(k.saved)-1], nil
}

func (k *fakeMixes) DeleteMix(_ context.Context, name string) error {
	k.saved = slices.DeleteFunc(k.saved, func(m turn.NamedMix) bool { return m.Name == name })
	return nil
}

func (d *fakeDialogue) SetMix(m turn.Mix) error {
	d.v.Conversation.Mix = m
	d.v.Version++
	return d.did("mix %s", m)
}

func (d *fakeDialogue) Drawn(id turn.ID) []infer.Token { return d.drawn[id] }
