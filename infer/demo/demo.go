package demo

import (
	_ "embed"

	"rookery/infer/checkpoint"
)

// Name is what the embedded model is called.
const Name = "rookery-demo"

//go:embed rookery-demo.safetensors
var weights []byte

// Open opens the embedded model without copying it. The caller closes it.
func Open() (*checkpoint.File, error) { return checkpoint.FromBytes(Name, weights) }
