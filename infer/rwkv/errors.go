package rwkv

import "fmt"

// An UnsupportedError says that a model was recognised and cannot be run.
type UnsupportedError struct {
	Version Version
	What    string    // what was recognised: "RWKV-6 (x060)"
	Where   string    // where it was to run, "the CPU"; empty: nowhere does it
	Runs    []Version // what can be run there
}

func (e *UnsupportedError) Error() string {
	where := "this build"
	if e.Where != "" {
		where = e.Where
	}
	return fmt.Sprintf("%s: %s runs plain %s only", e.What, where, Names(e.Runs))
}

// A NotModelError says that a file holds something other than a model.
type NotModelError struct {
	What   string // "a LoRA adapter"
	Remedy string
}

func (e *NotModelError) Error() string { return "this is " + e.What + ", not a model; " + e.Remedy }

// A TensorError says which tensor keeps a model from being usable, and why.
type TensorError struct {
	Version Version // what the model is taken for; Unknown before that is known
	Tensor  string
	Problem string
}

func (e *TensorError) Error() string {
	model := "RWKV"
	if e.Version != Unknown {
		model = versions[e.Version].name
	}
	return fmt.Sprintf("tensor %q: %s; the file is incomplete or not a plain %s model", e.Tensor, e.Problem, model)
}
