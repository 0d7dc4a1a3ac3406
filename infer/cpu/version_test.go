package cpu

import (
	"testing"

	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// Every version that the CPU runs has a place for each tensor of the version: a
// vector or a matrix, as the tensor is one.
func TestVersionsHaveAllTensors(t *testing.T) {
	for v, run := range versions {
		s := rwkv.Shape{Version: v, Layers: 2}
		check := func(at places, tensors []rwkv.TensorSpec) {
			if len(tensors) == 0 {
				t.Errorf("%v has no tensors", v)
			}
			for _, spec := range tensors {
				switch at[spec.Name].(type) {
				case *[]float32:
					if spec.Kind != rwkv.Vector {
						t.Errorf("%v: %s is kept as a vector", v, spec.Name)
					}
				case **kernel.Matrix:
					if spec.Kind == rwkv.Vector {
						t.Errorf("%v: %s is kept as a matrix", v, spec.Name)
					}
				case **table:
					if spec.Kind != rwkv.Table {
						t.Errorf("%v: %s is kept as a table", v, spec.Name)
					}
				case *stack:
					if spec.Kind != rwkv.LowRank && spec.Kind != rwkv.LowRanks {
						t.Errorf("%v: %s is kept as low-rank matrices", v, spec.Name)
					}
				default:
					t.Errorf("%v: there is no place for %s", v, spec.Name)
				}
			}
		}
		check(new(model).places(), s.ModelTensors())
		check(run.layer().places(), s.LayerTensors())
		weights := run.weights(s)
		for _, spec := range s.LayerTensors() {
			if _, ok := weights[spec.Name]; !ok {
				t.Errorf("%v: there are no synthetic weights for %s", v, spec.Name)
			}
		}
	}
}

// A variant can change weights without changing the model that it began as.
func TestCloneOfALayer(t *testing.T) {
	for v, run := range versions {
		base := run.layer()
		own := base.clone()
		for name, p := range own.places() {
			switch p := p.(type) {
			case *[]float32:
				*p = []float32{1}
			case **table:
				*p = new(table)
			case *stack:
				p[0] = new(kernel.Matrix)
			case **kernel.Matrix:
				*p = new(kernel.Matrix)
			}
			switch p := base.places()[name].(type) {
			case *[]float32:
				if *p != nil {
					t.Errorf("%v: changing %s of a clone changed the layer", v, name)
				}
			case **table:
				if *p != nil {
					t.Errorf("%v: changing %s of a clone changed the layer", v, name)
				}
			case *stack:
				if p[0] != nil {
					t.Errorf("%v: changing %s of a clone changed the layer", v, name)
				}
			case **kernel.Matrix:
				if *p != nil {
					t.Errorf("%v: changing %s of a clone changed the layer", v, name)
				}
			}
		}
	}
}
