package adapter

// Merge adds the change to rows [first, first+len(w)/In) of a weight, which are
// row-major in w. It computes in fp32.
func (d *Delta) Merge(w []float32, first int) {
	row := make([]float32, d.In)
	for o := range len(w) / d.In {
		d.mergeRow(w[o*d.In:(o+1)*d.In], row, first+o)
	}
}

// mergeRow changes row o of the weight; was is scratch of its length.
func (d *Delta) mergeRow(w, was []float32, o int) {
	r := d.Rank
	switch d.Form {
	case DiSHA:
		for j := range w {
			w[j] += d.Up[o*r+j%r]
		}
	case BAT:
		copy(was, w)
		for b := 0; b < d.In; b += r {
			d.mergeBlock(w[b:b+r], was[b:b+r], d.Blocks[b*r:(b+r)*r], o%r)
		}
	case Bone:
		copy(was, w)
		a := o / r * r
		for b := 0; b < d.In; b += r {
			d.mergeBlock(w[b:b+r], was[b:b+r], d.Blocks[a*r:(a+r)*r], o%r)
		}
	default:
		clear(was)
		for k := range r {
			up := d.Scale * d.Up[o*r+k]
			for j, v := range d.Down[k*d.In : (k+1)*d.In] {
				was[j] += up * v
			}
		}
		for j, g := range d.Gain {
			w[j] *= g
			was[j] *= d.Inner[j]
		}
		if d.Outer != nil {
			for j := range w {
				w[j] *= d.Outer[o]
			}
		}
		for j, v := range was {
			w[j] += v
		}
	}
}

// mergeBlock adds was·D + D[row] to one row of a block; D is [r, r].
func (d *Delta) mergeBlock(w, was, block []float32, row int) {
	r := d.Rank
	for j, v := range block[row*r : (row+1)*r] {
		w[j] += v
	}
	for i, v := range was {
		for j, b := range block[i*r : (i+1)*r] {
			w[j] += v * b
		}
	}
}
