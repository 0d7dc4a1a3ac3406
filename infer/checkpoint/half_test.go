package checkpoint

import (
	"math"
	"testing"
)

// halfByDefinition converts as IEEE 754 defines the format.
func halfByDefinition(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

func TestHalf(t *testing.T) {
	for h := range uint32(1 << 16) {
		got, want := float64(fromHalf(uint16(h))), halfByDefinition(uint16(h))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("fromHalf(%#04x) = %v, want %v", h, got, want)
		}
		if !math.IsNaN(want) && toHalf(float32(want)) != uint16(h) {
			t.Fatalf("toHalf(%v) = %#04x, want %#04x", want, toHalf(float32(want)), h)
		}
	}
	if h := toHalf(float32(math.NaN())); !math.IsNaN(halfByDefinition(h)) {
		t.Errorf("toHalf(NaN) = %#04x", h)
	}
}

// Halfway between two neighbours the even one wins; beside it the nearer one.
func TestToHalfRounds(t *testing.T) {
	for h := range uint16(0x7bff) {
		low, high := halfByDefinition(h), halfByDefinition(h+1)
		middle := float32((low + high) / 2) // exact: it has one bit more
		even := h + h&1
		for _, c := range []struct {
			in   float32
			want uint16
		}{{middle, even}, {math.Nextafter32(middle, 0), h}, {math.Nextafter32(middle, math.MaxFloat32), h + 1}, {-middle, even | 0x8000}} {
			if got := toHalf(c.in); got != c.want {
				t.Fatalf("toHalf(%v) = %#04x, want %#04x", c.in, got, c.want)
			}
		}
	}
	if got := toHalf(65520); got != 0x7c00 {
		t.Errorf("toHalf(65520) = %#04x, want infinity", got)
	}
	if got := toHalf(math.Nextafter32(65520, 0)); got != largestScale {
		t.Errorf("the largest fp16 value is %#04x", got)
	}
}

func TestHalves(t *testing.T) {
	dst := []uint16{7, 7, 7, 7}
	Halves(dst, []float32{1, -2, 65520})
	if want := [4]uint16{0x3c00, 0xc000, 0x7c00, 7}; [4]uint16(dst) != want {
		t.Errorf("%#04x, want %#04x", dst, want)
	}
}
