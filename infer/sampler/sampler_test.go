package sampler

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// penalties are how much lower each logit is for the draw, worked out from the
// probabilities of a softmax at temperature 1.
func penalties(s *Sampler, vocab int) []float64 {
	p := probs(s, make([]float32, vocab)) // the last token is never observed
	out := make([]float64, vocab)
	for i := range out {
		out[i] = math.Log(p[vocab-1] / p[i])
	}
	return out
}

func TestPenaltiesByHand(t *testing.T) {
	const pr, fr, d = .5, .25, .5
	for _, c := range []struct {
		mode   Mode
		tokens []int32
		want   []float64 // of tokens 0 to 3
	}{
		{ModeRWKV, nil, []float64{0, 0, 0, 0}},
		{ModeRWKV, []int32{1}, []float64{0, pr + fr, 0, 0}},
		{ModeRWKV, []int32{1, 1}, []float64{0, pr + fr*(1*d+1), 0, 0}},
		{ModeRWKV, []int32{1, 2, 1}, []float64{0, pr + fr*(d*d+1), pr + fr*d, 0}},
		{ModeRWKV, []int32{1, 2, 2, 2}, []float64{0, pr + fr*d*d*d, pr + fr*(d*d+d+1), 0}},
		{ModePip, []int32{1, 2, 1}, []float64{0, pr + fr*(d*d+1), pr + fr*d, 0}},
		{ModePip, []int32{3, 3, 1}, []float64{0, pr + fr, 0, pr}}, // 3 is exempt
		{ModePip, []int32{3, 3}, []float64{0, 0, 0, pr}},
		{ModeRapid, []int32{1}, []float64{0, pr, 0, 0}},
		{ModeRapid, []int32{1, 1}, []float64{0, pr*d + fr, 0, 0}},
		{ModeRapid, []int32{1, 2, 1, 1}, []float64{0, pr*d*d*d + fr*d + fr, pr * d * d, 0}},
		{ModeRapid, []int32{3}, []float64{0, 0, 0, pr}}, // no exemptions here
	} {
		s := New(5, Params{Mode: c.mode, Temperature: 1, TopP: 1, Presence: pr, Frequency: fr, Decay: d})
		s.Exempt = func(id int32) bool { return id == 3 }
		for _, id := range c.tokens {
			s.Observe(id)
		}
		got := penalties(s, 5)
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("%v after %v: token %d lowered by %v, want %v", c.mode, c.tokens, i, got[i], want)
			}
		}
	}
}

// Rapid-Sampling itself never charges frequency when presence is 0.
func TestRapidFrequencyWithoutPresence(t *testing.T) {
	s := New(5, Params{Mode: ModeRapid, Temperature: 1, TopP: 1, Frequency: .5, Decay: 1})
	for range 3 {
		s.Observe(1)
	}
	if got := penalties(s, 5); math.Abs(got[1]-1) > 1e-6 {
		t.Errorf("lowered by %v, want 1", got[1])
	}
}

func TestObserveOutOfRange(t *testing.T) {
	s := New(5, Params{Temperature: 1, TopP: 1, Presence: 1})
	for _, id := range []int32{-1, 5, math.MaxInt32, math.MinInt32} {
		s.Observe(id)
	}
	if m := s.Memory(); len(m.Counts) != 0 {
		t.Errorf("counts %v", m.Counts)
	}
}

func TestOrderOfTemperatureAndTopP(t *testing.T) {
	logits := []float32{2, 1.5, 0, -1} // untempered: .558, .339, .076, .028
	for _, c := range []struct {
		name string
		p    Params
		want []float64
	}{
		{"rwkv cuts before tempering", Params{Temperature: 4, TopP: .8}, softmax([]float64{.5, .375})},
		{"rapid tempers first", Params{Mode: ModeRapid, Temperature: 4, TopP: .8}, rapidByHand(logits, 4, .8)},
		{"top_p is met by the token that crosses it", Params{Temperature: 1, TopP: .57}, softmax([]float64{2, 1.5})},
		{"rapid takes a part of it", Params{Mode: ModeRapid, Temperature: 1, TopP: .8}, rapidByHand(logits, 1, .8)},
		{"top_k", Params{Temperature: 1, TopP: 1, TopK: 3}, softmax([]float64{2, 1.5, 0})},
		{"the stricter counts", Params{Temperature: 1, TopP: .9, TopK: 1}, []float64{1}},
		{"top_p 0", Params{Temperature: 1}, []float64{1}},
		{"rapid top_p 0", Params{Mode: ModeRapid, Temperature: 1}, []float64{1}},
		{"pip temperature 0", Params{Mode: ModePip, TopP: .9}, []float64{1}},
		{"a ban", Params{Temperature: 1, TopP: 1, Ban: []int32{0, 0, 99}}, append([]float64{0}, softmax([]float64{1.5, 0, -1})...)},
	} {
		got := probs(New(4, c.p), logits)
		for i := range got {
			want := 0.0
			if i < len(c.want) {
				want = c.want[i]
			}
			if math.Abs(got[i]-want) > 1e-4 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

func softmax(z []float64) []float64 {
	var sum float64
	for _, x := range z {
		sum += math.Exp(x)
	}
	out := make([]float64, len(z))
	for i, x := range z {
		out[i] = math.Exp(x) / sum
	}
	return out
}

// rapidByHand fills top_p with the likeliest tokens of the tempered softmax,
// the last of them in part. The logits are in descending order.
func rapidByHand(logits []float32, t, topP float64) []float64 {
	z := make([]float64, len(logits))
	for i, x := range logits {
		z[i] = float64(x) / t
	}
	out, left := softmax(z), topP
	for i, p := range out {
		out[i] = min(p, left) / topP
		left -= min(p, left)
	}
	return out
}

func TestTies(t *testing.T) {
	logits := []float32{1, 3, 3, 0, 3, 2}
	for _, c := range []struct {
		name string
		p    Params
		want []float64
	}{
		{"greedy takes the first", Params{}, []float64{0, 1, 0, 0, 0, 0}},
		{"rapid greedy takes the first", Params{Mode: ModeRapid}, []float64{0, 1, 0, 0, 0, 0}},
		{"pip greedy draws from them", Params{Mode: ModePip}, []float64{0, 1. / 3, 1. / 3, 0, 1. / 3, 0}},
		{"top_p keeps them", Params{Temperature: 1, TopP: .1}, []float64{0, 1. / 3, 1. / 3, 0, 1. / 3, 0}},
		{"top_k keeps the first", Params{Temperature: 1, TopP: 1, TopK: 2}, []float64{0, .5, .5, 0, 0, 0}},
		{"rapid shares", Params{Mode: ModeRapid, Temperature: 1, TopP: .1, TopK: 2}, []float64{0, 1. / 3, 1. / 3, 0, 1. / 3, 0}},
	} {
		got := probs(New(6, c.p), logits)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-6 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name   string
		vocab  int
		logits []float32
		ban    []int32
		want   int32
	}{
		{"no logits", 5, nil, nil, 0},
		{"no vocabulary", 0, []float32{1, 2}, nil, 0},
		{"a negative vocabulary", -3, []float32{1, 2}, nil, 0},
		{"all NaN", 3, []float32{nan, nan, nan}, nil, 0},
		{"all -Inf", 3, []float32{-inf, -inf, -inf}, nil, 0},
		{"all banned", 3, []float32{1, 2, 3}, []int32{2, 1, 0}, 0},
		{"one left", 3, []float32{nan, -inf, -80}, nil, 2},
		{"+Inf wins", 3, []float32{1, inf, nan}, nil, 1},
		{"+Inf banned", 3, []float32{1, inf, nan}, []int32{1}, 0},
		{"beyond the vocabulary", 2, []float32{1, 2, 9}, nil, 1},
	} {
		for _, p := range []Params{{}, {Temperature: 1, TopP: 1}, {Temperature: 2, TopP: .9, TopK: 2}, {Mode: ModePip}, {Mode: ModeRapid, Temperature: 1, TopP: .5}} {
			p.Ban = c.ban
			s := New(c.vocab, p)
			for range 20 {
				got, logProb := s.Sample(c.logits)
				if got != c.want && (c.name != "beyond the vocabulary" || got > 1) {
					t.Fatalf("%s, %+v: drew %d, want %d", c.name, p, got, c.want)
				}
				if logProb != logProb || logProb > 0 {
					t.Fatalf("%s, %+v: log-probability %v", c.name, p, logProb)
				}
			}
			if m := s.Memory(); m.Draws != 20 {
				t.Errorf("%s: %d numbers were taken for 20 draws", c.name, m.Draws)
			}
		}
	}
}

// A log-probability is that of the raw softmax, also when penalties and bans
// leave nothing of what the model wanted.
func TestLogProbIsRaw(t *testing.T) {
	logits := modelLogits(1000, 5)
	logits[7] = 90 // all the probability
	for _, p := range []Params{
		{Temperature: 1, TopP: 1},
		{Temperature: 1, TopP: 1, Ban: []int32{7}},
		{Temperature: 1, TopP: 1, Presence: 100, Decay: 1},
		{Temperature: 1, TopP: 1, Presence: -100, Decay: 1},
		{Temperature: .5, TopP: .5, Presence: 1e30, Decay: 1},
	} {
		s := New(1000, p)
		s.Observe(7)
		s.Observe(8)
		token, got := s.Sample(logits)
		if want := float64(logits[token]) - logSum(logits); math.Abs(float64(got)-want) > 1e-5*max(1, -want) {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}

func TestTopIsInOrder(t *testing.T) {
	s := New(4, Params{Temperature: 1, TopP: 1, TopK: 2, Ban: []int32{1}})
	nan := float32(math.NaN())
	top := s.Top([]float32{1, 5, nan, 1, 100}, 10)
	var ids []int32
	for _, c := range top {
		ids = append(ids, c.Token)
	}
	if !slices.Equal(ids, []int32{1, 0, 3}) {
		t.Fatalf("candidates %+v", top)
	}
	if top[0].Prob != 0 || top[1].Prob != .5 || math.Abs(float64(top[0].LogProb)+.0360) > 1e-4 {
		t.Errorf("candidates %+v", top)
	}
	if s.Top([]float32{1}, 0) != nil || s.Top(nil, 3) != nil || s.Memory().Draws != 0 {
		t.Error("Top of nothing is something, or it took a number")
	}
}

func TestValidate(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := []Params{
		{},
		{Temperature: 1, TopP: 1},
		{Temperature: 1000, TopK: 1 << 30},
		{Presence: -2, Frequency: 2, Decay: 1},
		{Mode: ModeRapid, Ban: []int32{0, 70000}},
	}
	for _, p := range good {
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{Temperature: -1}, "temperature"},
		{Params{Temperature: nan}, "temperature"},
		{Params{Temperature: inf}, "temperature"},
		{Params{Temperature: 1001}, "temperature"},
		{Params{TopK: -1}, "top_k"},
		{Params{TopP: -.1}, "top_p"},
		{Params{TopP: 1.1}, "top_p"},
		{Params{TopP: nan}, "top_p"},
		{Params{Presence: nan}, "presence"},
		{Params{Frequency: -inf}, "frequency"},
		{Params{Decay: 1.5}, "decay"},
		{Params{Decay: nan}, "decay"},
		{Params{Mode: 3}, "mode"},
		{Params{Ban: []int32{4, -4}}, "-4"},
	} {
		err := c.p.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", c.p, err)
		}
		c.p.Ban = append(c.p.Ban, 1)
		if got, _ := New(3, c.p).Sample([]float32{1, 9, 3}); got != 2 {
			t.Errorf("%+v: drew %d, want the likeliest that is not banned", c.p, got)
		}
	}
}

func TestModeNames(t *testing.T) {
	for _, m := range []Mode{ModeRWKV, ModePip, ModeRapid} {
		got, err := ParseMode(m.String())
		if err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("nucleus"); err == nil || !strings.Contains(err.Error(), "rapid") {
		t.Errorf("err = %v", err)
	}
	if got := Mode(9).String(); got != "Mode(9)" {
		t.Errorf("got %s", got)
	}
}

func TestSamplersAreIndependent(t *testing.T) {
	logits := modelLogits(5000, 8)
	p := Params{Temperature: 1, TopP: .99, Presence: .2, Decay: .99}
	run := func(seed uint64) (tokens []int32) {
		p := p
		p.Seed = seed
		s := New(5000, p)
		for range 50 {
			token, _ := s.Sample(logits)
			s.Observe(token)
			tokens = append(tokens, token)
		}
		return tokens
	}
	together := make([][]int32, 6)
	var group sync.WaitGroup
	for i := range together {
		group.Go(func() { together[i] = run(uint64(i)) })
	}
	group.Wait()
	for i := range together {
		if !slices.Equal(together[i], run(uint64(i))) {
			t.Errorf("sampler %d drew other tokens among others than alone", i)
		}
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	if raced {
		t.Skip("skipped: with the race detector allocations are not the program's alone")
	}
	logits := modelLogits(65536, 1)
	for _, p := range []Params{{}, {Temperature: 1, TopP: 1}, {Temperature: 1, TopP: .5, Presence: .5, Decay: .99}, {Mode: ModeRapid, Temperature: 1, TopP: .9, TopK: 50}} {
		s := New(65530, p)
		s.Observe(5)
		if n := testing.AllocsPerRun(20, func() { s.Sample(logits); s.Observe(5) }); n >= 1 {
			t.Errorf("%+v: %v allocations a draw", p, n)
		}
	}
}
