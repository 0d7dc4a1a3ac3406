package infer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Width says how a snapshot's state is written down. Everything else of a
// snapshot, the logits among it, is always written as it is: the next token is
// drawn from the same logits at any width, and they are small beside a state.
type Width uint8

// The widths.
const (
	WidthExact Width = iota // float32, every bit
	Width16                 // half precision
	Width8                  // bytes, with a scale for every 64 values
)

var widthNames = [...]string{"exact", "16", "8"}

func (w Width) String() string { return widthNames[w] }

// ParseWidth reads the name of a width.
func ParseWidth(name string) (Width, error) {
	for w, n := range widthNames {
		if n == name {
			return Width(w), nil
		}
	}
	return 0, fmt.Errorf("there is no width %q of states: it must be one of %q", name, widthNames)
}

// scaled is how many values share a scale: a row of the WKV state's heads,
// whose place in the state is a multiple of it in every released shape.
const scaled = 64

// Fit is the width that a state is written with where w is asked for: one with
// values that half precision does not have stays exact.
func (w Width) Fit(state []float32) Width {
	const most = 65504 // of half precision
	if w == WidthExact {
		return w
	}
	for _, x := range state {
		if !(x >= -most && x <= most) { // also what is not a number
			return WidthExact
		}
	}
	return w
}

// size is the bytes of n values.
func (w Width) size(n int) int {
	switch w {
	case Width16:
		return 2 * n
	case Width8:
		return n + 4*((n+scaled-1)/scaled)
	}
	return 4 * n
}

// put writes values to dst, which has size(len(v)) bytes.
func (w Width) put(dst []byte, v []float32) {
	switch w {
	case Width16:
		for i, x := range v {
			binary.LittleEndian.PutUint16(dst[2*i:], halfBits(x))
		}
	case Width8:
		for len(v) > 0 {
			n := min(scaled, len(v))
			putScaled(dst, v[:n])
			v, dst = v[n:], dst[4+n:]
		}
	default:
		putFloats(dst, v)
	}
}

// get is the inverse of put.
func (w Width) get(v []float32, src []byte) {
	switch w {
	case Width16:
		for i := range v {
			v[i] = halfValue(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case Width8:
		for len(v) > 0 {
			n := min(scaled, len(v))
			scale := math.Float32frombits(binary.LittleEndian.Uint32(src))
			for i, b := range src[4 : 4+n] {
				v[i] = scale * float32(int8(b))
			}
			v, src = v[n:], src[4+n:]
		}
	default:
		getFloats(v, src)
	}
}

// putScaled writes the scale of some values and each as a multiple of it.
func putScaled(dst []byte, v []float32) {
	const most = 127
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	scale := largest / most
	binary.LittleEndian.PutUint32(dst, math.Float32bits(scale))
	for i, x := range v {
		n := 0.0
		if scale > 0 {
			n = math.RoundToEven(float64(x / scale))
		}
		dst[4+i] = byte(int8(max(min(n, most), -most)))
	}
}

// halfBits rounds to the nearest half precision number, to the even one of
// two. Values beyond its range are the caller's to keep away.
func halfBits(x float32) uint16 {
	const (
		drop     = 23 - 10 // bits of the mantissa
		rebias   = (127 - 15) << 23
		smallest = 113 << 23 // the smallest normal number of half precision
	)
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 1<<31 - 1
	if bits < smallest {
		// Adding half lets the processor round to multiples of 2^-24.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-math.Float32bits(0.5))
	}
	bits += 1<<(drop-1) - 1 + bits>>drop&1
	return sign | uint16((bits-rebias)>>drop)
}

// halfValue is the inverse of halfBits, exactly.
func halfValue(h uint16) float32 {
	bits := uint32(h&0x7fff) << 13
	// Multiplying moves the exponent, also of numbers that are subnormal here.
	x := math.Float32frombits(bits) * 0x1p112
	if h&0x8000 != 0 {
		return -x
	}
	return x
}
