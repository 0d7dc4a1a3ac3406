package rwkv

import "math"

// Norms are the sizes of one layer's parts of a state, as Euclidean norms.
type Norms struct {
	AttShift, FFNShift float64
	Heads              []float64 // of each head's WKV matrix
}

// WKV is the norm of all heads together.
func (n Norms) WKV() float64 {
	sum := 0.0
	for _, h := range n.Heads {
		sum += h * h
	}
	return math.Sqrt(sum)
}

// Norms are those of a canonical state, for each layer. A part that the version
// does not have is 0.
func (s Shape) Norms(state []float32) []Norms {
	out := make([]Norms, s.Layers)
	size := s.HeadSize * s.HeadSize
	for i := range out {
		part := func(name string) []float32 {
			first, last := s.StatePart(i, name)
			return state[first:last]
		}
		wkv := part(PartWKV)
		out[i] = Norms{AttShift: norm(part(PartAttShift)), FFNShift: norm(part(PartFFNShift)), Heads: make([]float64, s.Heads)}
		for h := range s.Heads {
			out[i].Heads[h] = norm(wkv[h*size : (h+1)*size])
		}
	}
	return out
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// A Distance is how far two states are from each other.
type Distance struct {
	// L2 is the norm of the difference, relative to the mean of the two norms:
	// 0 for equal states, 2 for opposite ones.
	L2 float64
	// Cosine is that of the angle between them: 1 for the same direction. It is
	// 0 where one of them is zero.
	Cosine float64
}

// Distances compares the WKV parts of two canonical states: of each layer, and
// of all together.
func (s Shape) Distances(a, b []float32) (layers []Distance, all Distance) {
	var total moments
	layers = make([]Distance, s.Layers)
	for i := range layers {
		first, last := s.StatePart(i, PartWKV)
		m := momentsOf(a[first:last], b[first:last])
		layers[i] = m.distance()
		total.aa, total.bb, total.ab, total.dd = total.aa+m.aa, total.bb+m.bb, total.ab+m.ab, total.dd+m.dd
	}
	return layers, total.distance()
}

// moments are sums of squares and products: of a, of b, of both, and of their difference.
type moments struct{ aa, bb, ab, dd float64 }

func momentsOf(a, b []float32) (m moments) {
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		m.aa += x * x
		m.bb += y * y
		m.ab += x * y
		m.dd += (x - y) * (x - y)
	}
	return m
}

func (m moments) distance() (d Distance) {
	a, b := math.Sqrt(m.aa), math.Sqrt(m.bb)
	if a+b > 0 {
		d.L2 = 2 * math.Sqrt(m.dd) / (a + b)
	}
	if a > 0 && b > 0 {
		d.Cosine = m.ab / (a * b)
	}
	return d
}
