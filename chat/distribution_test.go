package chat_test

import (
	"math"
	"testing"
	"testing/synctest"

	"rookery/infer"
	"rookery/infer/sampler"
)

// The distribution after an answer is what the engine draws from when it goes on,
// under whatever parameters.
func TestOutlookIsWhatWouldComeNext(t *testing.T) {
	defaults := answersOf(20)
	defaults.Sampling.Presence, defaults.Sampling.Decay, defaults.Sampling.TopP = 0.7, 0.9, 0.95
	r := newRoom(t, setup{babble: true, defaults: defaults})
	d := r.workspace.New()
	if o, err := d.NextDistribution(t.Context()); o != nil || err != nil {
		t.Fatalf("an empty conversation has the distribution %v, %v", o, err)
	}
	v := ask(t, d, "anything")
	a := last(v)
	o, err := d.NextDistribution(t.Context())
	must(t, err)
	for _, p := range []sampler.Params{
		{Temperature: 1, TopP: 1},
		{Temperature: 0.4, TopP: 0.5, Presence: 2, Frequency: 1, Decay: 0.9},
		{Mode: sampler.ModeRapid, Temperature: 1.5, TopK: 3, TopP: 1, Frequency: 0.3, Decay: 0.9},
		{Temperature: 1, TopP: 1, Ban: []int32{o.Under(sampler.Params{TopP: 1}, 1)[0].Token}},
	} {
		// The sampler's memory goes on too: it is that of the answer's own draws.
		request := infer.Request{Tokens: v.Turns[0].Tokens, Replay: a.Tokens, Sampling: p, MaxTokens: 1, Top: 6}
		request.Sampling.Decay = defaults.Sampling.Decay
		p.Decay = defaults.Sampling.Decay
		stream, err := r.engine.Submit(request)
		must(t, err)
		<-stream.Done()
		_, drawn := stream.Read()
		if len(drawn) != 1 {
			t.Fatalf("%d tokens", len(drawn))
		}
		list := o.Under(p, 6)
		if len(list) != 6 {
			t.Fatalf("%d candidates", len(list))
		}
		for i, c := range list {
			if want := drawn[0].Top[i]; c.Token != want.Token || c.Taken || math.Abs(c.Drawn-float64(want.Prob)) > 1e-6 || math.Abs(math.Log(c.Model)-float64(want.LogProb)) > 1e-5 {
				t.Errorf("%+v: candidate %d is %+v, want %+v", p, i, c, want)
			}
		}
	}
	// After a prompt it is the first token of an answer.
	must(t, d.SetHead(v.Turns[0].ID))
	o, err = d.NextDistribution(t.Context())
	must(t, err)
	first, err := d.Candidates(t.Context(), a.ID, 0, 5)
	must(t, err)
	for i, c := range o.Under(a.Sampling, 5) {
		if c.Token != first[i].Token || math.Abs(c.Drawn-first[i].Drawn) > 1e-6 {
			t.Errorf("candidate %d after the prompt is %+v, want %+v", i, c, first[i])
		}
	}
}

// A running answer shows what its latest tokens were drawn from.
func TestLookAtARunningAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, setup{babble: true, defaults: answersOf(40)})
		d := r.workspace.New()
		if d.RecentDistribution() != nil {
			t.Error("nothing runs, and there is something to look at")
		}
		r.gate.shut()
		must(t, d.Send("anything"))
		r.gate.allow(2)
		synctest.Wait()
		if d.RecentDistribution() != nil {
			t.Error("a token that nobody asked for is looked at")
		}
		drawn := len(d.View().Live.Drawn)
		r.gate.allow(3)
		synctest.Wait()
		o := d.RecentDistribution()
		if o == nil || drawn == 0 {
			t.Fatalf("after %d tokens and three more there is %v to look at", drawn, o)
		}
		r.gate.open()
		v := settled(t, d)
		var taken []int32
		for _, c := range o.Under(last(v).Sampling, 4) {
			if c.Taken {
				taken = append(taken, c.Token)
			}
		}
		if len(taken) != 1 || taken[0] != last(v).Tokens[drawn] {
			t.Errorf("of what was looked at %v was taken, of the answer's tokens %v, %d drawn before", taken, last(v).Tokens, drawn)
		}
	})
}
