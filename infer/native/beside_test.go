//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"slices"
	"testing"

	"rookery/infer"
)

// readBeside reads a state over and over while another slot steps, and gives it
// up for another one now and then.
func readBeside(t *testing.T, b *Backend, steps int) {
	t.Helper()
	want := make([]float32, b.shape.StateLen())
	step(t, b, infer.Row{Slot: 1, Tokens: []int32{3, 4, 5}})
	if err := b.ReadSlot(1, want); err != nil {
		t.Fatal(err)
	}
	order, done := make(chan infer.Slot), make(chan error, 1)
	go func() {
		got := make([]float32, len(want))
		for s := range order {
			if err := b.ReadSlotBeside(s, got); err != nil {
				done <- err
				return
			}
			if !slices.Equal(got, want) {
				done <- errors.New("another state was read than was copied")
				return
			}
		}
		done <- nil
	}()
	for i := range steps {
		if i%10 == 0 { // no other call has to do with the slot until the next is sent
			s := infer.Slot(2 + i/10%2)
			if err := b.CopySlot(s, 1); err != nil {
				t.Fatal(err)
			}
			select {
			case order <- s:
			case err := <-done:
				t.Fatal(err)
			}
		}
		step(t, b, infer.Row{Slot: 0, Tokens: []int32{int32(1 + i%200)}})
	}
	close(order)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReadsBesideSteps(t *testing.T) {
	b := loadFake(t, openFake(t), Options{Slots: 4})
	readBeside(t, b, 200)
	if err := b.ReadSlotBeside(4, make([]float32, b.shape.StateLen())); err == nil {
		t.Error("a slot that is not there was read")
	}
}

func TestGPUReadsBesideSteps(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	for _, state := range []string{"fp32", "fp16"} {
		readBeside(t, m.onGPU(t, l, Options{Slots: 4, State: state}), 1000)
	}
}
