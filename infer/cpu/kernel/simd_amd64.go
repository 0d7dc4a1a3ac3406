package kernel

// A vectorSet is the assembly of one vector width. Its functions take lengths
// that are multiples of lanes and at least lanes; the table's entries, made
// from them here, take any.
type vectorSet struct {
	lanes     int
	unary     [unaries]func(dst, x *float32, n int)
	add       func(dst, x *float32, n int)
	addGated  func(dst, x, gate *float32, n int)
	shift     func(dst, x, prev, mix *float32, n int)
	shiftBy   func(dst, x, prev, mix, more *float32, n int)
	layerNorm func(dst, x, weight, bias *float32, n int, eps float32)
	quantise  func(quants *int8, scales *float32, offsets *int32, x *float32, blocks int)
}

var vectorsAVX2 = vectorSet{
	lanes:     8,
	unary:     [unaries]func(dst, x *float32, n int){sigmoidAVX2, tanhAVX2, expAVX2, squaredReLUAVX2, siluAVX2},
	add:       addAVX2,
	addGated:  addGatedAVX2,
	shift:     shiftAVX2,
	shiftBy:   shiftByAVX2,
	layerNorm: layerNormAVX2,
	quantise:  quantiseAVX2,
}

var vectorsAVX512 = vectorSet{
	lanes:     16,
	unary:     [unaries]func(dst, x *float32, n int){sigmoidAVX512, tanhAVX512, expAVX512, squaredReLUAVX512, siluAVX512},
	add:       addAVX512,
	addGated:  addGatedAVX512,
	shift:     shiftAVX512,
	shiftBy:   shiftByAVX512,
	layerNorm: layerNormAVX512,
	quantise:  quantiseAVX512,
}

// table completes plain Go's table with the set's functions.
func (s *vectorSet) table() *table {
	t := plainTable()
	for i, plain := range t.unary {
		t.unary[i] = s.anyLength(s.unary[i], plain)
	}
	t.add = s.anyLength(s.add, t.add)
	t.shift = func(dst, x, prev, mix []float32) {
		n := s.whole(len(x))
		if n > 0 {
			s.shift(&dst[0], &x[0], &prev[0], &mix[0], n)
		}
		shiftGo(dst[n:], x[n:], prev[n:], mix[n:])
	}
	t.shiftBy = func(dst, x, prev, mix, more []float32) {
		n := s.whole(len(x))
		if n > 0 {
			s.shiftBy(&dst[0], &x[0], &prev[0], &mix[0], &more[0], n)
		}
		shiftByGo(dst[n:], x[n:], prev[n:], mix[n:], more[n:])
	}
	t.addGated = func(dst, x, gate []float32) {
		n := s.whole(len(x))
		if n > 0 {
			s.addGated(&dst[0], &x[0], &gate[0], n)
		}
		addGatedGo(dst[n:], x[n:], gate[n:])
	}
	t.layerNorm = func(dst, x, weight, bias []float32, eps float32) {
		if n := len(x); n > 0 && s.whole(n) == n {
			s.layerNorm(&dst[0], &x[0], &weight[0], &bias[0], n, eps)
			return
		}
		layerNormGo(dst, x, weight, bias, eps)
	}
	t.quantise = func(quants []int8, scales []float32, offsets []int32, x []float32) {
		s.quantise(&quants[0], &scales[0], &offsets[0], &x[0], len(scales))
	}
	return t
}

// whole is the part of a length that fills vectors.
func (s *vectorSet) whole(n int) int { return n &^ (s.lanes - 1) }

func (s *vectorSet) anyLength(f func(dst, x *float32, n int), plain func(dst, x []float32)) func(dst, x []float32) {
	return func(dst, x []float32) {
		n := s.whole(len(x))
		if n > 0 {
			f(&dst[0], &x[0], n)
		}
		if n < len(x) {
			plain(dst[n:], x[n:])
		}
	}
}
