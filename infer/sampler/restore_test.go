package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Going on from a Memory gives the same tokens, wherever it is taken.
func TestRestoreContinuesExactly(t *testing.T) {
	for mode := ModeRWKV; mode <= ModeRapid; mode++ {
		p := Params{Mode: mode, Temperature: 1, TopP: .9, Presence: .4, Frequency: .3, Decay: .97, Seed: 42}
		var want []int32
		rng := rand.New(rand.NewPCG(1, 1))
		rows := make([][]float32, 60)
		for i := range rows {
			rows[i] = randomLogits(rng, 80)
		}
		a := New(80, p)
		for _, row := range rows {
			token, _ := a.Sample(row)
			a.Observe(token)
			want = append(want, token)
		}
		s := New(80, p)
		for i, row := range rows {
			m := s.Memory()
			s = New(80, p)
			s.Restore(m)
			token, _ := s.Sample(row)
			if token != want[i] {
				t.Fatalf("%v: draw %d is %d, want %d", mode, i, token, want[i])
			}
			m.Counts = append(m.Counts[:0], Count{Token: 1, N: 99, First: 9}) // ours to change
			s.Observe(token)
		}
		replayed := New(80, p)
		for _, token := range want[:40] {
			replayed.Observe(token)
		}
		replayed.Skip(40)
		replayed.Skip(-7)
		if token, _ := replayed.Sample(rows[40]); token != want[40] {
			t.Errorf("%v: after a replay draw 40 is %d, want %d", mode, token, want[40])
		}
	}
}

func TestRestoreOfDamagedMemory(t *testing.T) {
	s := New(10, Params{Temperature: 1, TopP: 1, Presence: 1})
	nan := float32(math.NaN())
	s.Restore(Memory{Draws: 3, Counts: []Count{{5, 1, 1}, {2, 3, 1}, {-1, 1, 1}, {10, 1, 1}, {5, 9, 1}, {3, nan, 1}, {4, 1, nan}}})
	if m := s.Memory(); m.Draws != 3 || !slices.Equal(m.Counts, []Count{{2, 3, 1}, {5, 1, 1}}) {
		t.Errorf("memory %+v", m)
	}
}

func TestSetParamsKeepsTheStream(t *testing.T) {
	p := Params{Temperature: 1, TopP: 1, Seed: 9}
	a, b := New(50, p), New(50, p)
	logits := modelLogits(50, 3)
	a.Sample(logits)
	b.Sample(logits)
	b.SetParams(Params{Temperature: 1, TopP: 1, Seed: 1234})
	for range 50 {
		x, _ := a.Sample(logits)
		y, _ := b.Sample(logits)
		if x != y {
			t.Fatal("a new seed changed the stream")
		}
	}
	if b.Params().Seed != 9 {
		t.Errorf("seed %d", b.Params().Seed)
	}
	ban := []int32{3}
	b.SetParams(Params{Ban: ban})
	ban[0] = 4
	if got := b.Params().Ban; !slices.Equal(got, []int32{3}) {
		t.Errorf("the bans follow the caller's slice: %v", got)
	}
}
