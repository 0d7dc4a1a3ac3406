package kernel

import "runtime"

// productGo is the plain Go product: every panel is widened to float32 a block
// of columns at a time, then applied to all rows.
func productGo(m *Matrix, x, y *Batch, first, last int, scratch []float32) {
	for p := first; p < last; p++ {
		if m.typ == Q8 {
			panelQ8Go(m, x, y, p)
			continue
		}
		for k := 0; k < m.depth; k += blockCols {
			n := min(blockCols, m.depth-k)
			w := widenGo(m, p, k, n, scratch)
			for i := range x.rows {
				panelFloatGo(w, x.row(i)[k:k+n], y.row(i)[p*PanelRows:], k > 0)
			}
		}
	}
}

// widenGo gives columns k to k+n of a panel as float32, [n][PanelRows].
func widenGo(m *Matrix, p, k, n int, scratch []float32) []float32 {
	lo, hi := k*PanelRows, (k+n)*PanelRows
	switch m.typ {
	case F32:
		return floatsOf(m.panel(p))[lo:hi]
	case F16:
		for i, h := range halvesOf(m.panel(p))[lo:hi] {
			scratch[i] = halfToFloat(h)
		}
	default:
		for i, h := range halvesOf(m.panel(p))[lo:hi] {
			scratch[i] = bfloatToFloat(h)
		}
	}
	return scratch[:hi-lo]
}

// panelFloatGo adds one panel's part of one row's outputs, eight at a time so
// that the sums stay in registers.
func panelFloatGo(w, x, y []float32, more bool) {
	for lane := 0; lane < PanelRows; lane += 8 {
		out := y[lane : lane+8 : lane+8]
		var s0, s1, s2, s3, s4, s5, s6, s7 float32
		if more {
			s0, s1, s2, s3, s4, s5, s6, s7 = out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]
		}
		at := lane
		for _, v := range x {
			c := w[at : at+8 : at+8]
			s0 += v * c[0]
			s1 += v * c[1]
			s2 += v * c[2]
			s3 += v * c[3]
			s4 += v * c[4]
			s5 += v * c[5]
			s6 += v * c[6]
			s7 += v * c[7]
			at += PanelRows
		}
		out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = s0, s1, s2, s3, s4, s5, s6, s7
	}
}

// panelQ8Go computes one Q8 panel for all rows.
func panelQ8Go(m *Matrix, x, y *Batch, p int) {
	panel := m.panel(p)
	for i := range x.rows {
		out := (*[PanelRows]float32)(y.row(i)[p*PanelRows:])
		*out = [PanelRows]float32{}
		for b := range m.depth / BlockSize {
			block := panel[b*q8BlockBytes:][:q8BlockBytes]
			xq := x.quants[i*x.qstride+b*BlockSize:][:BlockSize]
			xs, off := x.scales[i*x.sstride+b], x.offsets[i*x.sstride+b]
			scales := q8Scales(panel, b)
			for lane := range PanelRows {
				sum := off
				at := block[lane*4:]
				for k := 0; k < BlockSize; k += 4 {
					c := at[k*PanelRows:][:4]
					sum += int32(c[0])*int32(xq[k]) + int32(c[1])*int32(xq[k+1]) +
						int32(c[2])*int32(xq[k+2]) + int32(c[3])*int32(xq[k+3])
				}
				out[lane] += halfToFloat(scales[lane]) * xs * float32(sum)
			}
		}
	}
}

// readGo reads memory as the products do, for ReadBandwidth. The sum is kept so
// that the loads are not optimised away.
func readGo(b []byte) {
	var s0, s1, s2, s3 float32
	v := floatsOf(b)
	for ; len(v) >= 4; v = v[4:] {
		s0 += v[0]
		s1 += v[1]
		s2 += v[2]
		s3 += v[3]
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3)
}
