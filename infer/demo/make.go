//go:build ignore

// Make writes the embedded model from the weights it was trained to and their
// vocabulary:
//
//	go run make.go base.pth vocab.txt
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run make.go base.pth vocab.txt")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2], "rookery-demo.safetensors"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func convert(weights, vocabulary, out string) error {
	vocab, err := os.ReadFile(vocabulary)
	if err != nil {
		return err
	}
	f, err := checkpoint.Open(weights)
	if err != nil {
		return err
	}
	shape, err := rwkv.Detect(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", weights, err)
	} else {
		err = checkpoint.Convert(context.Background(), f, out, checkpoint.Conversion{Weights: checkpoint.Q8, Vocab: vocab, Tensors: shape.Matrices(true)})
	}
	return errors.Join(err, f.Close())
}
