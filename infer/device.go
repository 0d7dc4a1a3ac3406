package infer

import (
	"fmt"
	"runtime/debug"
)

// A PanicError is a panic in a backend or a sampler. It ends the requests that it
// concerns, not the program.
type PanicError struct {
	Doing string // "model step"
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: internal error: %v", e.Doing, e.Value)
}

// A device is a Backend that turns panics into errors and says in every error
// what was being done.
type device struct{ Backend }

func (d device) Step(rows []Row, drawn []Drawn) (err error) {
	defer caught(&err, "model step")
	return d.Backend.Step(rows, drawn)
}

func (d device) ReadSlot(s Slot, dst []float32) (err error) {
	defer caught(&err, "saving a state")
	return d.Backend.ReadSlot(s, dst)
}

func (d device) WriteSlot(s Slot, src []float32) (err error) {
	defer caught(&err, "restoring a state")
	return d.Backend.WriteSlot(s, src)
}

func (d device) CopySlot(dst, src Slot) (err error) {
	defer caught(&err, "copying a state")
	return d.Backend.CopySlot(dst, src)
}

func (d device) ZeroSlot(s Slot) (err error) {
	defer caught(&err, "clearing a state")
	return d.Backend.ZeroSlot(s)
}

func (d device) Close() (err error) {
	defer caught(&err, "closing the backend")
	return d.Backend.Close()
}

// caught is deferred: it turns a panic into an error and says in any error
// what was being done.
func caught(err *error, doing string) {
	if p := recover(); p != nil {
		*err = &PanicError{Doing: doing, Value: p, Stack: debug.Stack()}
	} else if *err != nil {
		*err = fmt.Errorf("%s: %w", doing, *err)
	}
}
