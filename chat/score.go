package chat

import (
	"context"
	"errors"
	"math"

	"rookery/chat/turn"
	"rookery/infer"
)

// Score says how likely an answer is for a reference.
type Score struct {
	LogProbs []float32 // natural logarithms, of each of the answer's tokens, the stop left out
}

// Perplexity is exp(-mean of the log-probabilities): 1 for an answer that is
// certain, the size of the vocabulary for one that is as good as noise. It is
// NaN without tokens.
func (j Score) Perplexity() float64 {
	sum := 0.0
	for _, p := range j.LogProbs {
		sum += float64(p)
	}
	return math.Exp(-sum / float64(len(j.LogProbs)))
}

// ScoreTurns says how likely a reference finds answers to the same prompt: it reads
// what they answer in its own way, and then all answers at once, a token of
// each a step. Sampling is of no account. It blocks; answers that still run
// are refused.
func (d *Dialogue) ScoreTurns(ctx context.Context, answers []turn.ID, reference Variant) ([]Score, error) {
	held, err := invite([]Variant{reference})
	if err != nil {
		return nil, err
	}
	defer dismiss(held)
	h := d.workspace.hostOf(reference.Model)
	if err := reference.Check(h.engine.Model()); err != nil {
		return nil, err
	}
	a, tokens, err := d.judging(answers, reference)
	if err != nil || len(answers) == 0 {
		return nil, err
	}
	s, err := a.readPrompt(ctx)
	if err != nil {
		return nil, err
	}
	return judge(ctx, h.engine, infer.Request{From: s.request(reference.Adapter.Fingerprint), Tokens: s.tokens, Adapter: reference.Adapter.Fingerprint, AnyAdapter: true, Label: "perplexity"}, tokens)
}

// judging is an answer of the reference to the prompt of answers, and their tokens.
func (d *Dialogue) judging(answers []turn.ID, reference Variant) (*answer, [][]int32, error) {
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
			a.on(reference.way(), d.way())
		}
		if n.turn.Parent != a.turn.Parent {
			return nil, nil, errors.New("these are answers to different prompts: they cannot be judged together")
		}
		t := n.turn.Tokens
		if !a.template.knows(n.turn) {
			t = a.template.spoken(n.turn.Text)
		}
		tokens = append(tokens, t)
	}
	return a, tokens, nil
}

// judge scores texts that all follow what a request reads.
func judge(ctx context.Context, e Engine, r infer.Request, texts [][]int32) ([]Score, error) {
	judged := make([]Score, len(texts))
	streams := make([]*infer.Stream, len(texts))
	var err error
	for i, tokens := range texts {
		if len(tokens) == 0 || err != nil {
			continue
		}
		r.Score = tokens
		streams[i], err = e.Submit(r)
	}
	for i, s := range streams {
		if s == nil {
			continue
		}
		if err != nil {
			s.Cancel()
		}
		end, failed := awaited(ctx, s)
		if err == nil {
			err = failed
		}
		judged[i] = Score{LogProbs: end.Scores}
	}
	if err != nil {
		return nil, err
	}
	return judged, nil
}

// awaited is a stream's ending; it is cancelled when ctx ends.
func awaited(ctx context.Context, s *infer.Stream) (infer.Ending, error) {
	select {
	case <-s.Done():
	case <-ctx.Done():
		s.Cancel()
		<-s.Done()
	}
	end := s.Ending()
	switch {
	case end.Err != nil:
		return end, end.Err
	case end.Reason == infer.ReasonCancelled && ctx.Err() != nil:
		return end, ctx.Err()
	case end.Reason == infer.ReasonCancelled:
		return end, infer.ErrClosed
	}
	return end, nil
}
