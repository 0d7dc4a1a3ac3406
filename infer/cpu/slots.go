package cpu

import (
	"fmt"

	"rookery/infer"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// slots is a pool of recurrent states in host memory. A state is laid out as
// rwkv.Shape says, but for the matrices of its heads, which are in the kernels'
// layout; reading and writing converts, which moves values and changes none. A slot gets memory when it is first
// used; one without memory is the zero state.
type slots struct {
	shape  rwkv.Shape
	states [][]float32
	bytes  int64
}

func newSlots(shape rwkv.Shape, n int) *slots {
	return &slots{shape: shape, states: make([][]float32, n)}
}

// check says what is wrong with a slot's number.
func (s *slots) check(slot infer.Slot) error {
	if slot < 0 || int(slot) >= len(s.states) {
		return fmt.Errorf("slot %d: the pool has slots 0 to %d", slot, len(s.states)-1)
	}
	return nil
}

func (s *slots) checkLen(slot infer.Slot, n int) error {
	if err := s.check(slot); err != nil {
		return err
	}
	if want := s.shape.StateLen(); n != want {
		return fmt.Errorf("slot %d: a state of %d values where the model has %d", slot, n, want)
	}
	return nil
}

// state is the memory of a valid slot.
func (s *slots) state(slot infer.Slot) []float32 {
	if s.states[slot] == nil {
		s.states[slot] = make([]float32, s.shape.StateLen())
		s.bytes += 4 * int64(s.shape.StateLen())
	}
	return s.states[slot]
}

func (s *slots) read(slot infer.Slot, dst []float32) error {
	if err := s.checkLen(slot, len(dst)); err != nil {
		return fmt.Errorf("read %w", err)
	}
	if s.states[slot] == nil {
		clear(dst)
		return nil
	}
	s.convert(dst, s.states[slot], kernel.LoadState)
	return nil
}

func (s *slots) write(slot infer.Slot, src []float32) error {
	if err := s.checkLen(slot, len(src)); err != nil {
		return fmt.Errorf("write %w", err)
	}
	s.convert(s.state(slot), src, kernel.StoreState)
	return nil
}

// convert copies a state between layouts; head does so for one head's matrix.
func (s *slots) convert(dst, src []float32, head func(dst, src []float32, size int)) {
	parts := s.shape.StateParts()
	for range s.shape.Layers {
		for _, p := range parts {
			n := p.Len()
			if len(p.Dims) == 3 { // [heads, size, size]
				size := p.Dims[2]
				for at := 0; at < n; at += size * size {
					head(dst[at:at+size*size], src[at:at+size*size], size)
				}
			} else {
				copy(dst[:n], src[:n])
			}
			dst, src = dst[n:], src[n:]
		}
	}
}

func (s *slots) copy(dst, src infer.Slot) error {
	if err := s.check(dst); err != nil {
		return fmt.Errorf("copy to %w", err)
	}
	if err := s.check(src); err != nil {
		return fmt.Errorf("copy from %w", err)
	}
	if s.states[src] == nil {
		clear(s.states[dst])
		return nil
	}
	copy(s.state(dst), s.states[src])
	return nil
}

func (s *slots) zero(slot infer.Slot) error {
	if err := s.check(slot); err != nil {
		return fmt.Errorf("zero %w", err)
	}
	clear(s.states[slot])
	return nil
}
