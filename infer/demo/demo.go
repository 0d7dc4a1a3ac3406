package demo

import (
	_ "embed"

	"rookery/infer/checkpoint"
)

// Name is what the embedded model is called.
const Name = "rookery-demo"

//go:embed rookery-demo.safetensors
var weights []byte

// Open reads the embedded model. Nothing is copied; Close it when done.
func Open() (*checkpoint.File, error) { return checkpoint.FromBytes(Name, weights) }
