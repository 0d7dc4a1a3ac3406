package cpu

import (
	"errors"
	"math"
	"slices"
	"testing"

	"rookery/infer"
)

// A state written is the state read, to the bit, whatever the bits are.
func TestSlotRoundTrip(t *testing.T) {
	b := synthetic(t, small, 5, Options{Slots: 4})
	state := make([]float32, small.StateLen())
	for i := range state {
		state[i] = math.Float32frombits(uint32(mix(uint64(i))) &^ (1 << 30)) // no NaNs, which equal nothing
	}
	if err := b.WriteSlot(2, state); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(readSlot(t, b, 2), state) {
		t.Error("read another state than was written")
	}
	if err := b.CopySlot(3, 2); err != nil {
		t.Fatal(err)
	}
	if err := b.ZeroSlot(2); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(readSlot(t, b, 3), state) {
		t.Error("a copied state is not the original, or was not its own")
	}
	if !slices.Equal(readSlot(t, b, 2), make([]float32, small.StateLen())) {
		t.Error("a zeroed slot is not zero")
	}
	if err := b.CopySlot(3, 0); err != nil { // slot 0 was never used
		t.Fatal(err)
	}
	if !slices.Equal(readSlot(t, b, 3), make([]float32, small.StateLen())) {
		t.Error("a copy of an unused slot is not zero")
	}
}

// A sequence goes on from a state that was read and written elsewhere.
func TestSlotResumes(t *testing.T) {
	eachBackend(t, Options{Threads: 2}, func(t *testing.T, b *Backend) {
		tokens := goldenTokens(20, small.Vocab)
		logits(t, b, 0, tokens[:9])
		state := readSlot(t, b, 0)
		want := logits(t, b, 0, tokens[9:])
		if err := b.WriteSlot(7, state); err != nil {
			t.Fatal(err)
		}
		if got := logits(t, b, 7, tokens[9:]); !slices.Equal(got, want) {
			t.Error("a resumed sequence differs from one never stopped")
		}
	})
}

// The canonical layout: the att shift of layer 0 is what ln1 makes of the last
// token, and a WKV state of one token from zero is v kᵀ: all its rows [value]
// are multiples of one key vector.
func TestCanonicalLayout(t *testing.T) {
	b := synthetic(t, small, 5, Options{Weights: "fp32"})
	logits(t, b, 0, []int32{17})
	state := readSlot(t, b, 0)
	m := b.model
	want := make([]float32, small.Embed)
	m.emb.Row(want, 17)
	path := b.pool.Path()
	path.LayerNorm(want, want, m.ln0.weight, m.ln0.bias, normEps)
	path.LayerNorm(want, want, v7Of(m.layers[0]).ln1.weight, v7Of(m.layers[0]).ln1.bias, normEps)
	if !slices.Equal(state[:small.Embed], want) {
		t.Error("the state does not start with the att shift of layer 0")
	}

	size := small.HeadSize
	head := state[2*small.Embed:][:size*size] // [value][key] of layer 0, head 0
	value := b.run.program.(*v7).act.vFirst.Row(0)[:size]
	for i := range size {
		for j := range size {
			a, b := head[i*size+j]*value[0], head[j]*value[i]
			if d := math.Abs(float64(a - b)); d > 1e-5*math.Abs(float64(a))+1e-9 {
				t.Fatalf("S[%d][%d] is %g: rows are not values times one key", i, j, head[i*size+j])
			}
		}
	}
}

func TestSlotsRefuse(t *testing.T) {
	b := synthetic(t, small, 5, Options{Slots: 2})
	right, wrong := make([]float32, small.StateLen()), make([]float32, small.StateLen()-1)
	for name, err := range map[string]error{
		"read beyond the pool":  b.ReadSlot(2, right),
		"write before the pool": b.WriteSlot(-1, right),
		"zero beyond the pool":  b.ZeroSlot(2),
		"copy to nowhere":       b.CopySlot(2, 0),
		"copy from nowhere":     b.CopySlot(0, 2),
		"read a short state":    b.ReadSlot(0, wrong),
		"write a short state":   b.WriteSlot(0, wrong),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// States and activations take memory when they are used.
func TestMemory(t *testing.T) {
	b := synthetic(t, small, 5, Options{})
	if m := b.Memory(); m.States != 0 || m.Scratch != 0 {
		t.Errorf("%d bytes of states and %d of activations before any was used", m.States, m.Scratch)
	}
	for _, s := range []infer.Slot{0, 9} {
		logits(t, b, s, []int32{1})
	}
	if n, want := b.Memory().States, int64(2*4*small.StateLen()); n != want {
		t.Errorf("two states take %d bytes, want %d", n, want)
	}
	one := b.Memory().Scratch
	logits(t, b, 0, goldenTokens(100, small.Vocab))
	if many := b.Memory().Scratch; one <= 0 || many < 20*one {
		t.Errorf("activations take %d bytes for one token and %d for a hundred", one, many)
	}
}

// A state is read while another slot steps; the race detector has a look.
func TestReadSlotBesideSteps(t *testing.T) {
	b := synthetic(t, small, 1, Options{Threads: 2, Slots: 3})
	state := make([]float32, small.StateLen())
	for i := range state {
		state[i] = float32(i)
	}
	if err := b.WriteSlot(2, state); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		got := make([]float32, len(state))
		for range 50 {
			if err := b.ReadSlotBeside(2, got); err != nil {
				done <- err
				return
			}
			if !slices.Equal(got, state) {
				done <- errors.New("another state was read than written")
				return
			}
		}
		done <- nil
	}()
	rows := []infer.Row{{Slot: 0, Tokens: []int32{1}, Logits: make([]float32, small.Vocab)}}
	for n := range 50 {
		rows[0].Slot = infer.Slot(n % 2) // the second is used for the first time beside a reading
		if err := b.Step(rows, make([]infer.Drawn, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
