package rwkv

import (
	"math"
	"testing"
)

func TestNormsAndDistances(t *testing.T) {
	s := Shape{Version: V7, Layers: 2, Embed: 4, Heads: 2, HeadSize: 2}
	at := func(layer int, name string) int { first, _ := s.StatePart(layer, name); return first }
	a := make([]float32, s.StateLen())
	a[at(1, PartAttShift)] = 3
	a[at(1, PartAttShift)+1] = 4
	a[at(1, PartFFNShift)+3] = 2
	a[s.WKV(1)+4] = 6 // head 1
	a[s.WKV(1)+7] = 8
	n := s.Norms(a)
	if n[1].AttShift != 5 || n[1].FFNShift != 2 || n[1].Heads[0] != 0 || n[1].Heads[1] != 10 || n[1].WKV() != 10 || n[0].WKV() != 0 {
		t.Errorf("%+v", n)
	}
	b := make([]float32, len(a))
	for i, v := range a {
		b[i] = -3 * v
	}
	b[at(0, PartAttShift)] = 7 // shifts are not compared
	layers, all := s.Distances(a, b)
	if layers[0] != (Distance{}) {
		t.Errorf("layer 0: %+v", layers[0])
	}
	// |a-b| = 40, the mean of the norms is 20.
	if d := layers[1]; d != all || math.Abs(d.L2-2) > 1e-12 || math.Abs(d.Cosine+1) > 1e-12 {
		t.Errorf("layer 1: %+v, all %+v", d, all)
	}
	if _, d := s.Distances(a, a); d.L2 != 0 || math.Abs(d.Cosine-1) > 1e-12 {
		t.Errorf("with itself: %+v", d)
	}
}
