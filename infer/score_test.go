package infer_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/scripted"
)

// scored is what a scoring request says.
func scored(t *testing.T, e *infer.Engine, r infer.Request) []float32 {
	t.Helper()
	s := submit(t, e, r)
	<-s.Done()
	end := s.Ending()
	if end.Err != nil || end.Reason != infer.ReasonLength || end.Text != "" || len(end.Tokens) > 0 {
		t.Fatalf("%+v", end)
	}
	if p := s.Progress(); p.Read != p.ToRead || end.Usage.Read != p.Read {
		t.Errorf("%d of %d tokens read, %d in the end", p.Read, p.ToRead, end.Usage.Read)
	}
	return end.Scores
}

// Tokens that were drawn have the log-probabilities that they were drawn with,
// whatever the sampling was, from a prompt, from a state and by a mix.
func TestScoresAreThoseOfTheDraws(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	prompt, members := numbers(7, 33), moods(t, e)
	read := run(t, e, infer.Request{Tokens: prompt, Logits: true}).Snapshot
	before := run(t, e, infer.Request{Tokens: prompt[:20], Logits: true}).Snapshot
	for name, r := range map[string]infer.Request{
		"prompt": {Tokens: prompt},
		"state":  {From: before, Tokens: prompt[20:]},
		"logits": {From: read},
		"mix":    {Tokens: prompt, Members: members, Weight: 1},
	} {
		drawing := r
		drawing.Sampling, drawing.MaxTokens = lively(5), 50
		s := submit(t, e, drawing)
		end := finish(t, s)
		_, tokens := s.Read()
		for _, n := range []int{1, 50} {
			r.Score = end.Tokens[:n]
			got := scored(t, e, r)
			if len(got) != n {
				t.Fatalf("%s: %d scores of %d tokens", name, len(got), n)
			}
			for i, p := range got {
				if math.Abs(float64(p-tokens[i].LogProb)) > 1e-4 {
					t.Errorf("%s: token %d is scored %v and was drawn with %v", name, i, p, tokens[i].LogProb)
				}
			}
		}
	}
	idle(t, e)
}

// Scoring runs beside what else runs, in the same steps, and changes nothing.
func TestScoringSharesSteps(t *testing.T) {
	const rows, n = 6, 60
	e := startEmbedded(t, 16, nil)
	prompt := e.Model().Tokenizer.Encode(nil, storyPrompts[0])
	want := run(t, e, infer.Request{Tokens: prompt, Sampling: storyteller(3), MaxTokens: n})
	answer := want.Tokens
	only := scored(t, e, infer.Request{Tokens: prompt, Score: answer})
	before := e.Stats().Steps
	var streams []*infer.Stream
	for range rows {
		streams = append(streams, submit(t, e, infer.Request{Tokens: prompt, Score: answer}))
	}
	drawn := run(t, e, infer.Request{Tokens: prompt, Sampling: storyteller(3), MaxTokens: n})
	for i, s := range streams {
		<-s.Done()
		if got := s.Ending().Scores; !slices.Equal(got, only) {
			t.Errorf("row %d is scored %v, alone %v", i, got, only)
		}
	}
	if !slices.Equal(drawn.Tokens, answer) {
		t.Errorf("beside scoring the answer is %v", drawn.Tokens)
	}
	if steps := e.Stats().Steps - before; steps > 2*n+rows {
		t.Errorf("%d rows of %d tokens took %d steps", rows+1, n, steps)
	}
}

func TestScoringEnds(t *testing.T) {
	for what, r := range map[string]infer.Request{
		"token to score 1 is 9999": {Tokens: numbers(1, 3), Score: []int32{1, 9999}},
		"another request":          {Tokens: numbers(1, 3), Replay: numbers(1, 3), Score: []int32{1}},
		"at least one token":       {Score: []int32{1}},
	} {
		e := start(t, scripted.Options{}, infer.Options{})
		if _, err := e.Submit(r); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	e := start(t, scripted.Options{Slots: 1}, infer.Options{})
	s := submit(t, e, infer.Request{Tokens: numbers(1, 3), Score: slices.Repeat(numbers(1, 100), 1000)})
	s.Cancel()
	<-s.Done()
	if end := s.Ending(); end.Reason != infer.ReasonCancelled || end.Scores != nil {
		t.Errorf("%+v", end)
	}
	if got := scored(t, e, infer.Request{Tokens: numbers(1, 3), Score: numbers(2, 4)}); len(got) != 4 {
		t.Errorf("after that %v", got)
	}
	e = start(t, scripted.Options{Before: func([]infer.Row) error { return errors.New("on purpose") }}, infer.Options{})
	s = submit(t, e, infer.Request{Tokens: numbers(1, 3), Score: numbers(2, 4)})
	<-s.Done()
	if end := s.Ending(); end.Reason != infer.ReasonError || end.Err == nil {
		t.Errorf("%+v", end)
	}
}
