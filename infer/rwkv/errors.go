package rwkv

import "fmt"

// An UnsupportedError says that a model was recognised and cannot be run.
type UnsupportedError struct {
	Version Version
	What    string // what was recognised: "RWKV-6 (x060)"
}

func (e *UnsupportedError) Error() string {
	return e.What + ": this build runs plain RWKV-7 (x070) only"
}

// A NotModelError says that a file holds something other than a model.
type NotModelError struct {
	What   string // "a LoRA adapter"
	Remedy string
}

func (e *NotModelError) Error() string { return "this is " + e.What + ", not a model; " + e.Remedy }

// A TensorError says which tensor keeps a model from being usable, and why.
type TensorError struct {
	Tensor  string
	Problem string
}

func (e *TensorError) Error() string {
	return fmt.Sprintf("tensor %q: %s; the file is incomplete or not a plain RWKV-7 model", e.Tensor, e.Problem)
}
