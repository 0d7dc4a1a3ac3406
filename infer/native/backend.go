package native

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"rookery/infer"
	"rookery/infer/rwkv"
)

// A Backend runs one model on one GPU. It implements infer.Backend, and keeps
// the logits of a step on the device until they are asked for.
type Backend struct {
	api     *api
	handle  handle // 0 after Close
	device  Device
	shape   rwkv.Shape
	weights int32
	state   int32
	limit   int // ids from here up are never drawn
	tokens  int // in one step
	tuning  string
	exempt  map[int32]bool
	memory  memory
	slots   []slot
	lost    atomic.Pointer[LostError] // set when the device was lost

	step     batch
	settling sync.WaitGroup // samplers, during a step
	logits   []float32      // of a row that is drawn from on the host
	blend    infer.Blend
}

var (
	_ infer.Mixer      = (*Backend)(nil)
	_ infer.SideReader = (*Backend)(nil)

	_ infer.AdapterBackend = (*Backend)(nil)
)

// Name says what runs the model, for people: "cuda, NVIDIA H200, fp16".
func (b *Backend) Name() string {
	parts := []string{"cuda", b.device.Name, typeNames[b.weights]}
	if b.state != typeF32 {
		parts = append(parts, typeNames[b.state]+" states")
	}
	return strings.Join(parts, ", ")
}

// Precision names how weights and states are rounded: "fp16", or
// "fp16-fp16state". Snapshots of different ones do not go on bit for bit.
func (b *Backend) Precision() string {
	if b.state == typeF32 {
		return typeNames[b.weights]
	}
	return typeNames[b.weights] + "-" + typeNames[b.state] + "state"
}

// Device is the GPU.
func (b *Backend) Device() Device { return b.device }

// Slots is the size of the pool.
func (b *Backend) Slots() int { return len(b.slots) }

// MaxTokens bounds the tokens of one step.
func (b *Backend) MaxTokens() int { return b.tokens }

// Memory is what the backend occupies on the device. All of it was taken when
// the model was loaded.
func (b *Backend) Memory() infer.Memory {
	return infer.Memory{Weights: b.memory.weights, States: b.memory.states, Scratch: b.memory.scratch}
}

// MaxMembers is how many rows can be mixed with one.
func (b *Backend) MaxMembers() int { return membersMax }

// ReadSlot copies a state, in the canonical layout, to dst.
func (b *Backend) ReadSlot(s infer.Slot, dst []float32) error {
	if err := b.checkState(s, len(dst)); err != nil {
		return fmt.Errorf("read %w", err)
	}
	return b.check(b.api.readSlot(b.handle, int32(s), unsafe.SliceData(dst)), "read a state")
}

// ReadSlotBeside is ReadSlot for one more goroutine, while steps go on with
// other slots.
func (b *Backend) ReadSlotBeside(s infer.Slot, dst []float32) error {
	if err := b.checkState(s, len(dst)); err != nil {
		return fmt.Errorf("read %w", err)
	}
	return b.check(b.api.readBeside(b.handle, int32(s), unsafe.SliceData(dst)), "read a state")
}

// WriteSlot copies a state in the canonical layout from src. Where states are
// fp16, one that such a slot was not read from is rounded.
func (b *Backend) WriteSlot(s infer.Slot, src []float32) error {
	if err := b.checkState(s, len(src)); err != nil {
		return fmt.Errorf("write %w", err)
	}
	return b.check(b.api.writeSlot(b.handle, int32(s), unsafe.SliceData(src)), "write a state")
}

// CopySlot copies a state from one slot to another.
func (b *Backend) CopySlot(dst, src infer.Slot) error {
	if err := b.checkSlot(dst); err != nil {
		return fmt.Errorf("copy to %w", err)
	}
	if err := b.checkSlot(src); err != nil {
		return fmt.Errorf("copy from %w", err)
	}
	return b.check(b.api.copySlot(b.handle, int32(dst), int32(src)), "copy a state")
}

// ZeroSlot makes a slot the zero state.
func (b *Backend) ZeroSlot(s infer.Slot) error {
	if err := b.checkSlot(s); err != nil {
		return fmt.Errorf("zero %w", err)
	}
	return b.check(b.api.zeroSlot(b.handle, int32(s)), "zero a state")
}

// checkSlot says what is wrong with a slot's number.
func (b *Backend) checkSlot(s infer.Slot) error {
	if s < 0 || int(s) >= len(b.slots) {
		return fmt.Errorf("slot %d: the pool has slots 0 to %d", s, len(b.slots)-1)
	}
	return nil
}

// checkState checks what the library cannot: how long the caller's array is.
func (b *Backend) checkState(s infer.Slot, n int) error {
	if err := b.checkSlot(s); err != nil {
		return err
	}
	if want := b.shape.StateLen(); n != want {
		return fmt.Errorf("slot %d: a state of %d values where the model has %d", s, n, want)
	}
	return nil
}

// Close gives the device's memory back. The backend must not be used afterwards.
func (b *Backend) Close() error {
	if b.handle == 0 {
		return nil
	}
	e := b.handle
	b.handle = 0
	if s := b.api.close(e); b.lost.Load() == nil {
		return b.api.check(s, "close the GPU backend")
	}
	return nil // of a device that is lost nothing can be given back
}
