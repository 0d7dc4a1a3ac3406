package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rookery/chat"
	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// fakeVotes are votes, and models to compare with.
type fakeVotes struct {
	votes        []turn.Vote
	secondModels *chat.Workspace // that loads other models; nil: none can be
}

func (k *fakeVotes) LoadSecondModel(ctx context.Context, path string, progress func(done, total int64)) (*chat.SecondModel, error) {
	if k.secondModels == nil {
		return nil, chat.ErrNoSecondModels
	}
	return k.secondModels.LoadSecondModel(ctx, path, progress)
}

func (d *fakeDialogue) Compare(variants []chat.Variant) error {
	d.asked = variants
	d.rows(false)
	return d.did("compare %s", variantNames(variants))
}

func (d *fakeDialogue) SendCompare(text string, variants []chat.Variant) error {
	d.asked = variants
	d.rows(false)
	return d.did("compare %q %s", text, variantNames(variants))
}

func variantNames(variants []chat.Variant) string {
	var names []string
	for _, v := range variants {
		names = append(names, v.Name)
	}
	return strings.Join(names, "|")
}

func (d *fakeDialogue) Variant() chat.Variant {
	return chat.Variant{Sampling: d.v.Conversation.Sampling}
}

// ScoreTurns finds every answer as likely as its place says.
func (d *fakeDialogue) ScoreTurns(_ context.Context, answers []turn.ID, reference chat.Variant) ([]compare.Score, error) {
	judged := make([]compare.Score, len(answers))
	for i := range judged {
		judged[i].LogProbs = []float32{-float32(i + 1)}
	}
	return judged, d.did("judge %d by %s", len(answers), reference.Name)
}

func (d *fakeDialogue) ChooseAlternatives(keep []turn.ID, drop bool) error {
	d.v.Alternatives, d.v.Live = nil, nil
	return d.did("keep %v %v", keep, drop)
}

func (d *fakeDialogue) Vote(winner turn.ID) error { return d.did("vote %d", winner) }

// rows puts answers to what was asked last into the view: each begins alike
// and goes on in its own way. Those of left stand for variants that have failed.
func (d *fakeDialogue) rows(ended bool, left ...string) {
	d.v.Alternatives, d.v.Live = nil, nil
	for i, v := range d.asked {
		if slices.Contains(left, v.Name) {
			continue
		}
		text := fmt.Sprintf("Once there was %s%s", strings.Repeat(string(rune('a'+i)), 3), strings.Repeat(" and so on", 10*i+5))
		r := chat.Alternative{
			Live:    chat.Live{Turn: turn.Turn{ID: turn.ID(500 + i), Role: turn.RoleAssistant, Text: text}, Text: text, Progress: infer.Progress{Generated: 40 + i}},
			Variant: v, Ended: ended, Rate: 12.5, FirstToken: 310 * time.Millisecond,
		}
		if ended {
			r.Reason = infer.ReasonStop
		} else {
			live := r.Live
			d.v.Live = &live
		}
		d.v.Alternatives = append(d.v.Alternatives, r)
	}
	d.v.Version++
}

func (k *fakeVotes) Votes(context.Context) ([]turn.Vote, error) { return k.votes, nil }

// compareDesks is a workspace with a conversation, states and adapters.
func compareDesks() *fakeDesk {
	k := &fakeDesk{open: []*fakeDialogue{lecture(1)}}
	for i, name := range []string{"animals", "dialogue", "sad"} {
		k.states = append(k.states, turn.State{ID: turn.ID(i + 1), State: statefile.State{Name: name, ModelName: "test"}})
	}
	for _, name := range []string{"pirate", "broken"} {
		k.rack = append(k.rack, turn.RegisteredAdapter{Adapter: turn.Adapter{Name: name}})
	}
	return k
}
