package measure

import (
	"context"
	"slices"
	"time"

	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// Model is an infer.Model for random weights, with the World tokenizer.
func Model(name string, shape rwkv.Shape) *infer.Model {
	return &infer.Model{Name: name, Shape: shape, Fingerprint: name, Tokenizer: tokenizer.World()}
}

// Mix measures a conversation that draws from its own state, with the weight own, and
// from members; without members, from its own state alone. The times are those of
// whole tokens in the engine: the step with a row for each state, combining logits,
// drawing, and the token's probability by each state. Series.Rows is the number of
// rows of a step; the rates are those of the conversation.
func Mix(ctx context.Context, m *infer.Model, b infer.Backend, own float32, members []infer.Member, p Plan) (Series, error) {
	beats := &metronome{}
	e := infer.NewEngine(m, beats.on(b), infer.Options{})
	defer func() { _ = e.Close() }() // there is nothing to close
	if len(members) == 0 {
		members, own = []infer.Member{}, 1
	}
	run := func(steps int) ([]time.Duration, error) {
		beats.at = beats.at[:0]
		s, err := e.Submit(infer.Request{
			Tokens: []int32{1}, Members: members, Weight: own, MaxTokens: steps + 1,
			Sampling: sampler.Params{Temperature: 1, TopP: 0.5, Presence: 0.4, Frequency: 0.4, Decay: 0.996, Seed: 1, Ban: []int32{0}},
		})
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			s.Cancel()
			<-s.Done()
			return nil, context.Cause(ctx)
		case <-s.Done():
		}
		return beats.between(), s.Ending().Err
	}
	first, err := run(warmUp)
	if err != nil {
		return Series{}, err
	}
	p.Steps = p.steps(first[len(first)-1])
	s := Series{Rows: 1 + len(members), Tokens: 1}
	var all []time.Duration
	for range max(1, p.Runs) {
		times, err := run(p.Steps)
		if err != nil {
			return Series{}, err
		}
		sum := time.Duration(0)
		for _, t := range times {
			sum += t
		}
		s.Rates = append(s.Rates, float64(len(times))/sum.Seconds())
		all = append(all, times...)
	}
	slices.Sort(s.Rates)
	slices.Sort(all)
	s.P50, s.P95, s.P99 = all[len(all)/2], all[len(all)*95/100], all[len(all)*99/100]
	return s, nil
}

// A metronome notes when the steps of a backend begin. It does not close the backend.
type metronome struct{ at []time.Time }

// on is the backend with the metronome. It is a Mixer if the backend is one.
func (m *metronome) on(b infer.Backend) infer.Backend {
	if x, ok := b.(infer.Mixer); ok {
		return tickingMixer{x, m}
	}
	return ticking{b, m}
}

func (m *metronome) tick() { m.at = append(m.at, time.Now()) }

type ticking struct {
	infer.Backend
	*metronome
}

func (t ticking) Step(rows []infer.Row, drawn []infer.Drawn) error {
	t.tick()
	return t.Backend.Step(rows, drawn)
}

func (t ticking) Close() error { return nil }

type tickingMixer struct {
	infer.Mixer
	*metronome
}

func (t tickingMixer) Step(rows []infer.Row, drawn []infer.Drawn) error {
	t.tick()
	return t.Mixer.Step(rows, drawn)
}

func (t tickingMixer) Close() error { return nil }

// between are the times from the beginning of a step to that of the next.
func (m *metronome) between() []time.Duration {
	var times []time.Duration
	for i := 1; i < len(m.at); i++ {
		times = append(times, m.at[i].Sub(m.at[i-1]))
	}
	return times
}
