package chat

import (
	"context"
	"errors"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer"
)

// ScoreTurns says how likely a reference finds answers to the same prompt: it reads
// what they answer in its own way, and then all answers at once, a token of
// each a step. Sampling is of no account. It blocks; answers that still run
// are refused.
func (d *Dialogue) ScoreTurns(ctx context.Context, answers []turn.ID, reference Variant) ([]compare.Score, error) {
	held, err := invite([]Variant{reference})
	if err != nil {
		return nil, err
	}
	defer dismiss(held)
	h := d.workspace.hostOf(reference.Model)
	if err := reference.Check(h.engine.Model()); err != nil {
		return nil, err
	}
	a, tokens, err := d.answerAgain(answers, reference)
	if err != nil || len(answers) == 0 {
		return nil, err
	}
	s, err := a.readPrompt(ctx)
	if err != nil {
		return nil, err
	}
	return compare.ScoreTexts(ctx, h.engine, infer.Request{From: s.requestFrom(reference.Adapter.Fingerprint), Tokens: s.tokens, Adapter: reference.Adapter.Fingerprint, AnyAdapter: true, Label: "perplexity"}, tokens)
}

// answerAgain is an answer of the reference to the prompt of answers, and their tokens.
func (d *Dialogue) answerAgain(answers []turn.ID, reference Variant) (*answer, [][]int32, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var a *answer
	var tokens [][]int32
	for _, id := range answers {
		n, err := d.answerNode(id)
		if err != nil {
			return nil, nil, err
		}
		if a == nil {
			a = &answer{d: d, turn: turn.Turn{Parent: n.turn.Parent}, template: d.template(), rendering: d.rendering(), base: d.conv.Base, path: d.path(n.turn.Parent), prompted: true}
			a.useSettings(reference.settings(), d.settings())
		}
		if n.turn.Parent != a.turn.Parent {
			return nil, nil, errors.New("these are answers to different prompts: they cannot be judged together")
		}
		t := n.turn.Tokens
		if !a.template.OwnsTokens(n.turn) {
			t = a.template.EncodeAnswer(n.turn.Text)
		}
		tokens = append(tokens, t)
	}
	return a, tokens, nil
}
