//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ebitengine/purego"

	"rookery/infer"
	"rookery/infer/sampler"
)

func TestSlots(t *testing.T) {
	b := loadFake(t, openFake(t), Options{Slots: 3})
	n := model().Shape.StateLen()
	r := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = r.Float32()
		}
		return v
	}
	read := func(s infer.Slot) []float32 {
		t.Helper()
		v := random()
		if err := b.ReadSlot(s, v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, two := random(), random()
	for s, v := range [][]float32{one, two, two} {
		if err := b.WriteSlot(infer.Slot(s), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.CopySlot(2, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read(0), make([]float32, n)) || !slices.Equal(read(1), two) || !slices.Equal(read(2), one) {
		t.Error("the slots do not hold what was written, copied and cleared")
	}
	for what, err := range map[string]error{
		"read":      b.ReadSlot(3, one),
		"read ":     b.ReadSlot(0, one[1:]),
		"write":     b.WriteSlot(-1, one),
		"write ":    b.WriteSlot(0, nil),
		"copy to":   b.CopySlot(3, 0),
		"copy from": b.CopySlot(0, 3),
		"zero":      b.ZeroSlot(99),
	} {
		wantError(t, err, what)
	}
}

// deviceCounts are the counts that the device has for a slot.
func deviceCounts(t *testing.T, l *Library, b *Backend, s infer.Slot) []sampler.Count {
	t.Helper()
	lib, err := purego.Dlopen(l.Path(), purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	get := function[func(e handle, slot int32, dst *count, size int32, n *int32) status](t, lib, "rk_get_counts")
	buf := make([]count, b.shape.Vocab)
	var n int32
	if st := get(b.handle, int32(s), &buf[0], int32(len(buf)), &n); st != statusOK {
		t.Fatalf("status %d", st)
	}
	var out []sampler.Count
	for _, c := range buf[:n] {
		out = append(out, sampler.Count{Token: c.token, N: c.n, First: c.first})
	}
	return out
}

// Counts are sent when the device has others, and not otherwise.
func TestCountsAreSentWhenTheyDiffer(t *testing.T) {
	digits := func(id int32) bool { return sampler.PipExempt(model().Tokenizer.Bytes(id)) }
	pip := lively(3)
	pip.Mode = sampler.ModePip
	silent := lively(4)
	silent.Presence, silent.Frequency = 0, 0
	for _, c := range []struct {
		name   string
		params sampler.Params
		// between is what happens after step n, in place of Observe.
		between func(n int, s *sampler.Sampler, drawn int32)
		sent    int64 // in 20 steps
	}{
		{"every token observed", lively(1), func(_ int, s *sampler.Sampler, id int32) { s.Observe(id) }, 1},
		{"no penalties", silent, func(_ int, s *sampler.Sampler, id int32) { s.Observe(id) }, 0},
		{"one token taken back", lively(1), func(n int, s *sampler.Sampler, id int32) {
			if n != 7 {
				s.Observe(id)
			}
		}, 2},
		{"another token observed", lively(1), func(n int, s *sampler.Sampler, id int32) {
			if n == 7 {
				id = (id + 1) % 200
			}
			s.Observe(id)
		}, 2},
		{"observed twice", lively(1), func(n int, s *sampler.Sampler, id int32) {
			s.Observe(id)
			if n == 7 {
				s.Observe(id)
			}
		}, 2},
		{"restored", lively(1), func(n int, s *sampler.Sampler, id int32) {
			before := s.Memory()
			s.Observe(id)
			if n == 7 {
				s.Restore(before)
			}
		}, 2},
		{"another decay", lively(1), func(n int, s *sampler.Sampler, id int32) {
			s.Observe(id)
			if n == 7 {
				p := s.Params()
				p.Decay = 0.5
				s.SetParams(p)
			}
		}, 2},
		{"another decay before the token is observed", lively(1), func(n int, s *sampler.Sampler, id int32) {
			if n == 7 {
				p := s.Params()
				p.Decay = 0.5
				s.SetParams(p)
			}
			s.Observe(id)
		}, 2},
		{"penalties later", silent, func(n int, s *sampler.Sampler, id int32) {
			s.Observe(id)
			if n == 7 {
				s.SetParams(lively(1))
			}
		}, 1},
		{"exempt tokens", pip, func(_ int, s *sampler.Sampler, id int32) { s.Observe(id) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := openFake(t)
			look := newSpy(t, l)
			var exempt []int32
			for id := range int32(model().Tokenizer.Size()) {
				if digits(id) {
					exempt = append(exempt, id)
				}
			}
			b := loadFake(t, l, Options{Exempt: append(exempt, 1<<20, -1)})
			s := newSampler(c.params)
			s.Exempt = digits
			next := int32(1)
			for n := range 20 {
				seen := s.Memory().Counts
				next = step(t, b, infer.Row{Slot: 5, Tokens: []int32{next}, Sampler: s})[0].Token
				if p := s.Effective(); counts(p) {
					check := newSampler(c.params)
					check.Exempt = digits
					check.SetParams(s.Params())
					check.Restore(sampler.Memory{Counts: seen})
					check.Observe(next)
					if got := deviceCounts(t, l, b, 5); !slices.Equal(got, check.Memory().Counts) {
						t.Fatalf("step %d: the device counted %v, want %v", n, got, check.Memory().Counts)
					}
				}
				c.between(n, s, next)
			}
			if got := look.countsSent(b.handle); got != c.sent {
				t.Errorf("counts were sent %d times, want %d", got, c.sent)
			}
		})
	}
}

// A Sampler whose exempt tokens are not the device's own is served too: its
// counts are sent again after such a token.
func TestOtherExemptTokens(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	p := lively(3)
	p.Mode = sampler.ModePip
	s, check := newSampler(p), newSampler(p)
	odd := func(id int32) bool { return id%2 == 1 }
	s.Exempt, check.Exempt = odd, odd
	next := int32(1)
	for n := range 20 {
		next = step(t, b, infer.Row{Slot: 5, Tokens: []int32{next}, Sampler: s})[0].Token
		s.Observe(next)
		check.Observe(next)
		if slices.Equal(deviceCounts(t, l, b, 5), check.Memory().Counts) == odd(next) {
			t.Fatalf("step %d: token %d", n, next)
		}
	}
	if got := newSpy(t, l).countsSent(b.handle); got < 3 || got > 19 {
		t.Errorf("counts were sent %d times", got)
	}
}

// Two sequences that take turns in a slot do not see each other's counts.
func TestSlotChangesHands(t *testing.T) {
	l := openFake(t)
	look := newSpy(t, l)
	b := loadFake(t, l, Options{})
	one, two := newSampler(lively(1)), newSampler(lively(2))
	for range 3 {
		for _, s := range []*sampler.Sampler{one, two} {
			d := step(t, b, infer.Row{Slot: 2, Tokens: []int32{1}, Sampler: s})
			s.Observe(d[0].Token)
			if !slices.Equal(deviceCounts(t, l, b, 2), s.Memory().Counts) {
				t.Fatal("the device has the counts of another sequence")
			}
		}
	}
	if got := look.countsSent(b.handle); got != 6 {
		t.Errorf("counts were sent %d times, want 6", got)
	}
}
