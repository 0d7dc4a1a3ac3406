package ui

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat"
	"rookery/infer"
)

// fakeMixes are saved mixes in memory.
type fakeMixes struct {
	saved []chat.NamedMix
	mix   chat.Mix // what ParseMix gives
}

func (k *fakeMixes) ParseMix(_ context.Context, text string) (chat.Mix, error) {
	if text == "off" {
		return chat.Mix{}, nil
	}
	if !k.mix.Active() {
		return chat.Mix{}, fmt.Errorf("there is no state %q", text)
	}
	return k.mix, nil
}

func (k *fakeMixes) Mixes(context.Context) ([]chat.NamedMix, error) { return k.saved, nil }

func (k *fakeMixes) FindMix(_ context.Context, name string) (chat.Mix, error) {
	for _, m := range k.saved {
		if m.Name == name {
			return m.Mix, nil
		}
	}
	return chat.Mix{}, fmt.Errorf("there is no saved mix %q", name)
}

func (k *fakeMixes) SaveMix(ctx context.Context, name string, m chat.Mix) (chat.NamedMix, error) {
	_ = k.DeleteMix(ctx, name)
	k.saved = append(k.saved, chat.NamedMix{Name: name, Mix: m})
	return k.saved[len(k.saved)-1], nil
}

func (k *fakeMixes) DeleteMix(_ context.Context, name string) error {
	k.saved = slices.DeleteFunc(k.saved, func(m chat.NamedMix) bool { return m.Name == name })
	return nil
}

func (d *fakeDialogue) SetMix(m chat.Mix) error {
	d.v.Conversation.Mix = m
	d.v.Version++
	return d.did("mix %s", m)
}

func (d *fakeDialogue) Drawn(id chat.ID) []infer.Token { return d.drawn[id] }
