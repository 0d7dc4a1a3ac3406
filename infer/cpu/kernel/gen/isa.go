package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An isa is a vector width with the few operations that are spelled
// differently. One description of a function serves both.
type isa struct{ wide bool }

var isas = []isa{{wide: true}, {wide: false}}

func (s isa) String() string {
	if s.wide {
		return "AVX512"
	}
	return "AVX2"
}

// lanes is the number of float32 in a vector.
func (s isa) lanes() int {
	if s.wide {
		return 16
	}
	return 8
}

func (s isa) bytes() int { return 4 * s.lanes() }

func (s isa) reg() VecVirtual {
	if s.wide {
		return ZMM()
	}
	return YMM()
}

func (s isa) zero() VecVirtual {
	v := s.reg()
	if s.wide {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
	return v
}

func (s isa) load(m Mem) VecVirtual {
	v := s.reg()
	VMOVUPS(m, v)
	return v
}

var constants = map[uint32]Mem{}

// bits is a vector in memory with one 32-bit value in every lane.
func bits(v uint32) Mem {
	m, ok := constants[v]
	if !ok {
		m = GLOBL(fmt.Sprintf("lanes%08x", v), RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(v))
		}
		constants[v] = m
	}
	return m
}

func constant(v float64) Mem { return bits(math.Float32bits(float32(v))) }

// and, or, xor are bitwise.
func (s isa) and(m Op, a, dst VecVirtual) {
	if s.wide {
		VPANDD(m, a, dst)
	} else {
		VANDPS(m, a, dst)
	}
}

func (s isa) or(m Op, a, dst VecVirtual) {
	if s.wide {
		VPORD(m, a, dst)
	} else {
		VORPS(m, a, dst)
	}
}

func (s isa) xor(m Op, a, dst VecVirtual) {
	if s.wide {
		VPXORD(m, a, dst)
	} else {
		VXORPS(m, a, dst)
	}
}

// below sets dst to a where |x| < limit and to b elsewhere, also for NaN.
func (s isa) below(x VecVirtual, limit Mem, a, b, dst VecVirtual) {
	if s.wide {
		k := K()
		VCMPPS(Imm(1), limit, x, k)
		VBLENDMPS(a, b, k, dst)
		return
	}
	mask := s.reg()
	VCMPPS(Imm(1), limit, x, mask)
	VBLENDVPS(mask, a, b, dst)
}

// fold leaves in the low lane of an X register the sum or maximum of all
// lanes, halves onto halves; v is consumed.
func (s isa) fold(v VecVirtual, op func(a, b, dst Op)) VecVirtual {
	y, x := v.AsY(), XMM()
	if s.wide {
		h := YMM()
		VEXTRACTF32X8(Imm(1), v, h)
		op(h, y, y)
	}
	VEXTRACTF128(Imm(1), y, x)
	op(x, v.AsX(), x)
	t := XMM()
	VPSHUFD(Imm(0x4e), x, t)
	op(t, x, x)
	VPSHUFD(Imm(0xb1), x, t)
	op(t, x, x)
	return x
}

func addps(a, b, dst Op) { VADDPS(a, b, dst) }
func maxps(a, b, dst Op) { VMAXPS(a, b, dst) }
func addd(a, b, dst Op)  { VPADDD(a, b, dst) }

func (s isa) broadcast(x VecVirtual) VecVirtual {
	v := s.reg()
	VBROADCASTSS(x, v)
	return v
}

// log2e, and ln 2 in two parts of which the first has few bits
const (
	log2e = 1.44269504088896341
	ln2hi = 0.693359375
	ln2lo = -2.12194440054690583e-4
)

// exp replaces x by e^x: x = n·ln 2 + r, and a polynomial for e^r (the
// coefficients are those of the Cephes library's expf).
func (s isa) exp(x VecVirtual) {
	n, p := s.reg(), s.reg()
	VMAXPS(x, s.load(constant(-104)), x) // the second operand of the instruction is what NaN gives
	VMINPS(x, s.load(constant(89)), x)
	VMULPS(constant(log2e), x, n)
	if s.wide {
		VRNDSCALEPS(Imm(8), n, n)
	} else {
		VROUNDPS(Imm(8), n, n)
	}
	VFNMADD231PS(constant(ln2hi), n, x)
	VFNMADD231PS(constant(ln2lo), n, x)
	VMOVUPS(constant(1.9875691500e-4), p)
	for _, c := range []float64{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		VFMADD213PS(constant(c), x, p)
	}
	sq := s.reg()
	VMULPS(x, x, sq)
	VFMADD213PS(x, sq, p)
	VADDPS(constant(1), p, p)
	if s.wide {
		VSCALEFPS(n, p, x)
		return
	}
	// 2^n in two steps, so that neither overflows
	half := s.reg()
	VCVTPS2DQ(n, n)
	VPSRAD(Imm(1), n, half)
	VPSUBD(half, n, n)
	for _, e := range []VecVirtual{half, n} {
		VPADDD(bits(127), e, e)
		VPSLLD(Imm(23), e, e)
		VMULPS(e, p, p)
	}
	VMOVAPS(p, x)
}

// sigmoid replaces x by 1/(1+e^-x).
func (s isa) sigmoid(x VecVirtual) {
	s.xor(bits(0x80000000), x, x)
	s.exp(x)
	VADDPS(constant(1), x, x)
	VDIVPS(x, s.load(constant(1)), x)
}

// tanh replaces x by tanh x: 1 - 2/(e^2|x| + 1) with the sign of x, and near 0
// an odd polynomial (Cephes, tanhf).
func (s isa) tanh(x VecVirtual) {
	abs, e, sq, p := s.reg(), s.reg(), s.reg(), s.reg()
	s.and(bits(0x7fffffff), x, abs)
	VADDPS(abs, abs, e)
	s.exp(e)
	VADDPS(constant(1), e, e)
	VDIVPS(e, s.load(constant(-2)), e)
	VADDPS(constant(1), e, e)
	sign := s.reg()
	s.and(bits(0x80000000), x, sign)
	s.or(sign, e, e)
	VMULPS(x, x, sq)
	VMOVUPS(constant(-5.70498872745e-3), p)
	for _, c := range []float64{2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1} {
		VFMADD213PS(constant(c), sq, p)
	}
	VMULPS(x, sq, sq)
	VFMADD213PS(x, sq, p)
	s.below(abs, constant(0.625), p, e, x)
}
