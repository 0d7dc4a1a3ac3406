package ui

import (
	"context"
	"fmt"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
)

// fakeMixes are states and mixes in memory.
type fakeMixes struct {
	mix turn.Mix // what ParseMix gives
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

func (d *fakeDialogue) SetMix(m turn.Mix) error {
	d.v.Conversation.Mix = m
	d.v.Version++
	return d.did("mix %s", m)
}

func (d *fakeDialogue) RecentDistribution() *chat.Distribution { return nil }

// NextDistribution of the fake: token 101 is the likeliest.
func (d *fakeDialogue) NextDistribution(context.Context) (*chat.Distribution, error) {
	m := scripted.Model()
	logits := make([]float32, m.Shape.Vocab)
	logits[101] = 12
	return chat.NewDistribution(m, &infer.Distribution{Logits: logits, Token: -1}, nil), nil
}
