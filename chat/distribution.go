package chat

import (
	"context"
	"math"
	"slices"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// An Distribution is what one token of a conversation is chosen from, for trying
// parameters on it: that needs no engine. It does not change.
type Distribution struct {
	model  *infer.Model
	seen   *infer.Distribution
	banned []int32
}

// NewDistribution is one of a model's logits; banned tokens are not drawn whatever
// the parameters say.
func NewDistribution(m *infer.Model, seen *infer.Distribution, banned []int32) *Distribution {
	return &Distribution{m, seen, banned}
}

// Under is the k likeliest tokens by the model, and the one that was drawn,
// with the probabilities that they have under parameters.
func (o *Distribution) Under(p sampler.Params, k int) []Candidate {
	p.Ban = slices.Concat(p.Ban, o.banned)
	return under(o.model, o.seen, p, k)
}

// under is Distribution.Under.
func under(m *infer.Model, o *infer.Distribution, p sampler.Params, k int) []Candidate {
	draw := sampler.New(min(m.Tokenizer.Size(), m.Shape.Vocab), p)
	draw.Exempt = func(id int32) bool { return sampler.PipExempt(m.Tokenizer.Bytes(id)) }
	draw.Restore(o.Sampler)
	top := draw.Top(o.Logits, k)
	is := func(c sampler.Candidate) bool { return c.Token == o.Token }
	if o.Token >= 0 && !slices.ContainsFunc(top, is) {
		all := draw.Top(o.Logits, len(o.Logits))
		if i := slices.IndexFunc(all, is); i >= 0 {
			top = append(top, all[i])
		}
	}
	list := make([]Candidate, len(top))
	for i, c := range top {
		list[i] = Candidate{
			Token: c.Token, Text: prompt.TokenText(m.Tokenizer.Bytes(c.Token)), Taken: is(c),
			Model: math.Exp(float64(c.LogProb)), Drawn: float64(c.Prob),
		}
	}
	return list
}

// RecentDistribution is the distribution of a token that the running answer drew not long ago, or
// nil; it asks for one to look at the next time. It returns at once. An answer
// that nobody looks at does not pay for it.
func (d *Dialogue) RecentDistribution() *Distribution {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run == nil || d.run.stream == nil {
		return nil
	}
	a := d.run
	a.stream.Look()
	seen := a.stream.Distribution()
	if seen == nil {
		return nil
	}
	return NewDistribution(a.model(), seen, slices.Concat(a.template.BannedTokens(), a.ban))
}

// NextDistribution is what the token after the head would be chosen from: of an answer
// the one that it would go on with, of a prompt the first of an answer. It is
// nil where there is nothing to go on from. It blocks while the state is read,
// if it is not in memory.
func (d *Dialogue) NextDistribution(ctx context.Context) (*Distribution, error) {
	d.mu.Lock()
	head := d.tree.nodes[d.conv.Head]
	if err := d.broken; err != nil || head == nil || d.loading {
		d.mu.Unlock()
		return nil, err
	}
	t := head.turn
	a := &answer{d: d, turn: turn.Turn{Parent: t.ID}, template: d.template(), rendering: d.rendering(), base: d.conv.Base, path: d.path(t.ID), sampling: t.Sampling, prompted: true}
	if t.Role == turn.RoleAssistant {
		a.turn, a.resumed, a.path = t, &t, d.path(t.Parent)
	}
	a.useSettings(d.settings(), d.settings())
	d.mu.Unlock()
	if a.resumed != nil && !a.template.OwnsTokens(t) {
		return nil, otherTokens(t)
	}
	s, err := a.ahead(ctx)
	if err != nil {
		return nil, err
	}
	return NewDistribution(d.workspace.engine.Model(), s.Distribution(), a.template.BannedTokens()), nil
}

// ahead is the state that the answer would go on from, with logits.
func (a *answer) ahead(ctx context.Context) (*infer.Snapshot, error) {
	s, err := a.findStart(ctx)
	if err != nil {
		return nil, err
	}
	return a.logitsAt(ctx, s)
}

// logitsAt is the state where an answer begins, with its logits.
func (a *answer) logitsAt(ctx context.Context, s start) (*infer.Snapshot, error) {
	unread := len(s.tokens) + len(s.replay)
	if s.from != nil && s.from.Logits != nil && unread+len(s.from.Pending) == 0 {
		return s.from, nil
	}
	adapter := a.adapterInUse().Adapter
	return a.readLogits(ctx, infer.Request{
		From: s.requestFrom(adapter), Tokens: s.tokens, Replay: s.replay, Sampling: a.drawing(nil), Adapter: adapter, AnyAdapter: true,
	}, nil)
}

// drawnKept is of how many answers the tokens stay as they were drawn.
const drawnKept = 16

// drawn is the last answers' tokens as they were drawn, with what each state
// of a mix thought of them.
type drawn struct {
	turns  []turn.ID // the one drawn last at the end
	tokens map[turn.ID][]infer.Token
}

func (d *drawn) keep(turnID turn.ID, tokens []infer.Token, more bool) {
	if len(tokens) == 0 {
		return
	}
	if d.tokens == nil {
		d.tokens = map[turn.ID][]infer.Token{}
	}
	if more {
		tokens = slices.Concat(d.tokens[turnID], tokens)
	}
	d.turns = append(slices.DeleteFunc(d.turns, func(id turn.ID) bool { return id == turnID }), turnID)
	d.tokens[turnID] = tokens
	if len(d.turns) > drawnKept {
		delete(d.tokens, d.turns[0])
		d.turns = slices.Delete(d.turns, 0, 1)
	}
}

// Drawn is the tokens of an answer as they were drawn, of the last answers
// since the program was started; otherwise nil. It must not be changed.
func (d *Dialogue) Drawn(id turn.ID) []infer.Token {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn.tokens[id]
}
