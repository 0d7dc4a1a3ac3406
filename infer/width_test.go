package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHalf(t *testing.T) {
	for h := range 0x7c00 { // all positive numbers
		x := halfValue(uint16(h))
		if got := halfBits(x); got != uint16(h) {
			t.Fatalf("%#x is %v and back %#x", h, x, got)
		}
		next := halfValue(uint16(h) + 1)
		if h == 0x7bff {
			continue
		}
		for _, c := range []struct {
			x    float32
			want int
		}{{x + (next-x)/4, h}, {x + (next-x)*3/4, h + 1}, {x + (next-x)/2, h + h&1}} {
			if got := halfBits(c.x); int(got) != c.want {
				t.Fatalf("%v is %#x, want %#x", c.x, got, c.want)
			}
			if got := halfBits(-c.x); int(got) != c.want|0x8000 {
				t.Fatalf("%v is %#x", -c.x, got)
			}
		}
	}
	if x := halfValue(halfBits(65504)); x != 65504 {
		t.Errorf("the largest is %v", x)
	}
}

func TestWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	state := make([]float32, 3*scaled+7)
	for i := range state {
		state[i] = float32(r.NormFloat64() * math.Exp2(float64(r.IntN(12)-8)))
	}
	state[5] = 0
	clear(state[scaled : 2*scaled])
	s := &Snapshot{
		Model: "m", Tokenizer: "t", Position: 9, State: state, Logits: []float32{1e-30, 3, float32(math.Inf(-1))},
		Tail: []byte{0xf0},
	}
	for w, bound := range map[Width]func(block []float32, x float32) float64{
		WidthExact: func([]float32, float32) float64 { return 0 },
		Width16:    func(_ []float32, x float32) float64 { return math.Max(math.Abs(float64(x))/2048, 0x1p-25) },
		Width8: func(block []float32, _ float32) float64 {
			largest := 0.0
			for _, x := range block {
				largest = max(largest, math.Abs(float64(x)))
			}
			return largest / 127 * 0.5001
		},
	} {
		data, err := s.AppendWidth(nil, w)
		if err != nil {
			t.Fatal(err)
		}
		if exact := marshal(t, s); len(data)-w.size(len(state)) != len(exact)-4*len(state) {
			t.Errorf("%v: %d bytes, exactly %d", w, len(data), len(exact))
		}
		var back Snapshot
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(w, err)
		}
		for i, x := range state {
			block := state[i/scaled*scaled : min((i/scaled+1)*scaled, len(state))]
			if d := math.Abs(float64(back.State[i] - x)); d > bound(block, x) {
				t.Errorf("%v: value %d is %v, was %v", w, i, back.State[i], x)
			}
		}
		back.State = state
		if !sameSnapshot(s, &back) {
			t.Errorf("%v: the rest is %+v", w, back)
		}
		// Written again it is the same: drift does not add up by saving.
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if again, err := back.AppendWidth(nil, w); err != nil || !slices.Equal(again, data) {
			t.Errorf("%v: written twice it differs, %v", w, err)
		}
		if got, err := ParseWidth(w.String()); got != w || err != nil {
			t.Errorf("%v is read as %v, %v", w, got, err)
		}
	}
	if _, err := ParseWidth("4"); err == nil {
		t.Error("a width of 4 was read")
	}
}

func TestStatesThatDoNotFit(t *testing.T) {
	for _, x := range []float32{70000, -70000, float32(math.NaN()), float32(math.Inf(1))} {
		s := &Snapshot{Model: "m", State: []float32{1, x, 1. / 3}}
		for _, w := range []Width{Width16, Width8} {
			data, err := s.AppendWidth(nil, w)
			if err != nil || !slices.Equal(data, marshal(t, s)) {
				t.Errorf("%v with %v is not written exactly: %v", w, x, err)
			}
		}
	}
}

func BenchmarkWidth(b *testing.B) {
	state := make([]float32, 34<<20/4)
	for i := range state {
		state[i] = float32(i%1000) / 300
	}
	s := &Snapshot{State: state}
	for _, w := range []Width{WidthExact, Width16, Width8} {
		data, err := s.AppendWidth(nil, w)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("write "+w.String(), func(b *testing.B) {
			buf := make([]byte, 0, len(data))
			for b.Loop() {
				if _, err := s.AppendWidth(buf, w); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read "+w.String(), func(b *testing.B) {
			for b.Loop() {
				if err := new(Snapshot).UnmarshalBinary(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
