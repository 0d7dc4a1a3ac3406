package sampler

import (
	"reflect"
	"slices"
	"testing"
)

// Another device draws what Sample draws if it is told what these say.
func TestDrawingElsewhere(t *testing.T) {
	logits := []float32{0, 1, 2, 3, 2, 1}
	p := Params{Temperature: 1, TopP: 0.9, Presence: 0.2, Frequency: 0.1, Decay: 0.9, Seed: 7, Ban: []int32{4, 2, 4}}
	here, there := New(6, p), New(6, p)
	for n := range uint64(50) {
		if got := there.Draws(); got != n {
			t.Fatalf("draw %d is number %d", n, got)
		}
		q := there.Effective()
		device := New(there.Vocab(), q)
		device.Restore(Memory{Draws: there.Draws(), Counts: there.Memory().Counts})
		want, _ := here.Sample(logits)
		if got, _ := device.Sample(logits); got != want {
			t.Fatalf("draw %d is %d, want %d", n, got, want)
		}
		there.Skip(1)
		here.Observe(want)
		there.Observe(want)
	}
	if !reflect.DeepEqual(here.Memory(), there.Memory()) {
		t.Error("the samplers differ")
	}
}

func TestEffectiveParamsStay(t *testing.T) {
	for _, p := range []Params{
		{},
		{Mode: ModePip},
		{Mode: ModePip, Temperature: 0.5, TopP: 0.3, TopK: 9},
		{Mode: ModeRapid, Temperature: 1},
		{Mode: ModeRapid, Temperature: 2, TopP: 0.5},
		{Temperature: -1, Ban: []int32{3, -2, 1, 3}},
	} {
		once := New(5, p).Effective()
		if err := once.Validate(); err != nil {
			t.Errorf("%+v becomes %+v: %v", p, once, err)
		}
		if twice := New(5, once).Effective(); !reflect.DeepEqual(once, twice) {
			t.Errorf("%+v becomes %+v and then %+v", p, once, twice)
		}
		if !slices.IsSorted(once.Ban) || len(slices.Compact(slices.Clone(once.Ban))) != len(once.Ban) {
			t.Errorf("bans %v", once.Ban)
		}
	}
}

func TestWeight(t *testing.T) {
	exempt := func(id int32) bool { return id == 3 }
	for _, c := range []struct {
		mode   Mode
		exempt func(int32) bool
		token  int32
		want   float32
	}{
		{ModePip, exempt, 3, 0}, {ModePip, exempt, 2, 1}, {ModePip, nil, 3, 1}, {ModeRWKV, exempt, 3, 1}, {ModeRapid, exempt, 3, 1},
	} {
		s := New(5, Params{Mode: c.mode, Temperature: 1, TopP: 1, Decay: 1})
		s.Exempt = c.exempt
		s.Observe(c.token)
		if got := s.Memory().Counts[0].N; got != c.want || s.Weight(c.token) != c.want {
			t.Errorf("%v, token %d: counted %v, said %v, want %v", c.mode, c.token, got, s.Weight(c.token), c.want)
		}
	}
}

// A revision that was foretold is reached by that Observe and by nothing else.
func TestRevision(t *testing.T) {
	start := func() *Sampler {
		s := New(9, Params{Temperature: 1, TopP: 1, Decay: 0.5, Presence: 1})
		s.Observe(5)
		return s
	}
	for _, c := range []struct {
		name string
		do   func(*Sampler)
		want bool
	}{
		{"that token", func(s *Sampler) { s.Observe(5) }, true},
		{"that token, and what does not count", func(s *Sampler) {
			s.Skip(3)
			s.Sample(make([]float32, 9))
			s.Observe(5)
			s.Observe(99)
			s.Memory()
		}, true},
		{"nothing", func(*Sampler) {}, false},
		{"another token", func(s *Sampler) { s.Observe(6) }, false},
		{"twice", func(s *Sampler) { s.Observe(5); s.Observe(5) }, false},
		{"other parameters", func(s *Sampler) { s.SetParams(s.Params()) }, false},
		{"other parameters first", func(s *Sampler) { s.SetParams(Params{}); s.Observe(5) }, false},
		{"a restored memory", func(s *Sampler) { s.Restore(s.Memory()) }, false},
	} {
		s := start()
		want := s.Revision().Then(5)
		c.do(s)
		if got := s.Revision() == want; got != c.want {
			t.Errorf("%s: foretold %v, want %v", c.name, got, c.want)
		}
	}
}
