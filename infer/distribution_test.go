package infer_test

import (
	"math"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// What Look brings is what a token was drawn from: the sampler finds the same
// candidates in it that the engine reported with the token.
func TestOutlookIsOfADraw(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	members := moods(t, e)
	for name, r := range map[string]infer.Request{
		"one state": {},
		"a mix":     {Members: members, Weight: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r.Tokens, r.MaxTokens, r.Top = numbers(3, 9), 200, 8
			r.Sampling = sampler.Params{Temperature: 0.9, TopP: 0.8, Presence: 0.4, Frequency: 0.2, Decay: 0.98, Seed: 11}
			s, err := e.Submit(r)
			if err != nil {
				t.Fatal(err)
			}
			var seen []*infer.Distribution
			for done := false; !done; {
				s.Look()
				select {
				case <-s.Done():
					done = true
				default:
				}
				if o := s.Distribution(); o != nil && (len(seen) == 0 || seen[len(seen)-1] != o) {
					seen = append(seen, o)
				}
			}
			_, tokens := s.Read()
			if len(seen) == 0 {
				t.Fatal("200 tokens were drawn, and none was looked at")
			}
			for _, o := range seen {
				if o.Token == 0 { // it ends the answer, and is not among the tokens
					continue
				}
				draw := sampler.New(scripted.Model().Tokenizer.Size(), r.Sampling)
				draw.Restore(o.Sampler)
				top := draw.Top(o.Logits, 8)
				if !slices.ContainsFunc(tokens, func(k infer.Token) bool { return k.ID == o.Token && alike(k.Top, top) }) {
					t.Fatalf("no token %d was drawn from %v", o.Token, top)
				}
			}
		})
	}
}

func alike(a, b []sampler.Candidate) bool {
	return slices.EqualFunc(a, b, func(x, y sampler.Candidate) bool {
		return x.Token == y.Token && math.Abs(float64(x.Prob-y.Prob)) < 1e-6 && math.Abs(float64(x.LogProb-y.LogProb)) < 1e-5
	})
}

// A request has no distribution unless Look was called.
func TestNoOutlookUnlessAsked(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	s, err := e.Submit(infer.Request{Tokens: numbers(3, 9), MaxTokens: 20})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if o := s.Distribution(); o != nil {
		t.Errorf("nobody asked for %+v", o.Token)
	}
}
