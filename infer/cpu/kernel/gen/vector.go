package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func param(name string) Register { return Load(Param(name), GP64()) }

func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
	Pragma("noescape")
}

func done() {
	VZEROUPPER()
	RET()
}

// elementwise is dst[i] = f(x[i]).
func (s isa) elementwise(name, doc string, f func(x VecVirtual)) {
	function(name+s.String(), "func(dst, x *float32, n int)", doc)
	dst, x, n := param("dst"), param("x"), param("n")
	Label("loop")
	v := s.load(Mem{Base: x})
	f(v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(uint64(s.bytes())), x)
	ADDQ(Imm(uint64(s.bytes())), dst)
	SUBQ(Imm(uint64(s.lanes())), n)
	JG(LabelRef("loop"))
	done()
}

func (s isa) add() {
	function("add"+s.String(), "func(dst, x *float32, n int)", "sets dst += x.")
	dst, x, n := param("dst"), param("x"), param("n")
	Label("loop")
	v := s.load(Mem{Base: x})
	VADDPS(Mem{Base: dst}, v, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(uint64(s.bytes())), x)
	ADDQ(Imm(uint64(s.bytes())), dst)
	SUBQ(Imm(uint64(s.lanes())), n)
	JG(LabelRef("loop"))
	done()
}

func (s isa) shift() {
	function("shift"+s.String(), "func(dst, x, prev, mix *float32, n int)", "sets dst = x + (prev-x)·mix.")
	dst, x, prev, mix, n := param("dst"), param("x"), param("prev"), param("mix"), param("n")
	i := GP64()
	XORQ(i, i)
	at := func(r Register) Mem { return Mem{Base: r, Index: i, Scale: 4} }
	Label("loop")
	v, d := s.load(at(x)), s.load(at(prev))
	VSUBPS(v, d, d)
	VFMADD231PS(at(mix), d, v)
	VMOVUPS(v, at(dst))
	ADDQ(Imm(uint64(s.lanes())), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	done()
}

// shiftBy is shift with mix+more in the place of mix.
func (s isa) shiftBy() {
	function("shiftBy"+s.String(), "func(dst, x, prev, mix, more *float32, n int)", "sets dst = x + (prev-x)·(mix+more).")
	dst, x, prev, mix, more, n := param("dst"), param("x"), param("prev"), param("mix"), param("more"), param("n")
	i := GP64()
	XORQ(i, i)
	at := func(r Register) Mem { return Mem{Base: r, Index: i, Scale: 4} }
	Label("loop")
	v, d, m := s.load(at(x)), s.load(at(prev)), s.load(at(mix))
	VSUBPS(v, d, d)
	VADDPS(at(more), m, m)
	VFMADD231PS(m, d, v)
	VMOVUPS(v, at(dst))
	ADDQ(Imm(uint64(s.lanes())), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	done()
}

func (s isa) addGated() {
	function("addGated"+s.String(), "func(dst, x, gate *float32, n int)", "sets dst += x·gate.")
	dst, x, gate, n := param("dst"), param("x"), param("gate"), param("n")
	i := GP64()
	XORQ(i, i)
	at := func(r Register) Mem { return Mem{Base: r, Index: i, Scale: 4} }
	Label("loop")
	sum, v := s.load(at(dst)), s.load(at(x))
	VFMADD231PS(at(gate), v, sum)
	VMOVUPS(sum, at(dst))
	ADDQ(Imm(uint64(s.lanes())), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	done()
}

// sumOver adds f of all n elements in four sums, by vectors; f adds to sum the
// vector at a place. It leaves the total in every lane. label must be unique.
func (s isa) sumOver(label string, n Register, f func(i Register, disp int, sum VecVirtual)) VecVirtual {
	sums := []VecVirtual{s.zero(), s.zero(), s.zero(), s.zero()}
	i, left := GP64(), GP64()
	XORQ(i, i)
	MOVQ(n, left)
	Label(label + "four")
	SUBQ(Imm(uint64(4*s.lanes())), left)
	JL(LabelRef(label + "rest"))
	for j := range sums {
		f(i, j*s.bytes(), sums[j])
	}
	ADDQ(U32(uint32(4*s.lanes())), i)
	JMP(LabelRef(label + "four"))
	Label(label + "rest")
	ADDQ(U32(uint32(4*s.lanes())), left)
	Label(label + "one")
	SUBQ(Imm(uint64(s.lanes())), left)
	JL(LabelRef(label + "end"))
	f(i, 0, sums[0])
	ADDQ(Imm(uint64(s.lanes())), i)
	JMP(LabelRef(label + "one"))
	Label(label + "end")
	VADDPS(sums[1], sums[0], sums[0])
	VADDPS(sums[3], sums[2], sums[2])
	VADDPS(sums[2], sums[0], sums[0])
	return s.broadcast(s.fold(sums[0], addps))
}

// moments gives the mean of x and 1/sqrt(variance + eps), in every lane. The
// variance is from the differences to the mean.
func (s isa) moments(x, n Register, eps Mem) (mean, scale VecVirtual) {
	mean = s.sumOver("sum", n, func(i Register, disp int, sum VecVirtual) {
		VADDPS(Mem{Base: x, Index: i, Scale: 4, Disp: disp}, sum, sum)
	})
	count := XMM()
	VXORPS(count, count, count)
	VCVTSI2SSQ(n, count, count)
	number := s.broadcast(count)
	VDIVPS(number, mean, mean)
	scale = s.sumOver("square", n, func(i Register, disp int, sum VecVirtual) {
		d := s.load(Mem{Base: x, Index: i, Scale: 4, Disp: disp})
		VSUBPS(mean, d, d)
		VFMADD231PS(d, d, sum)
	})
	VDIVPS(number, scale, scale)
	e := s.reg()
	VBROADCASTSS(eps, e)
	VADDPS(e, scale, scale)
	VSQRTPS(scale, scale)
	VDIVPS(scale, s.load(constant(1)), scale)
	return mean, scale
}

func (s isa) layerNorm() {
	function("layerNorm"+s.String(), "func(dst, x, weight, bias *float32, n int, eps float32)",
		"sets dst = (x-mean)/sqrt(var+eps)·weight + bias.")
	dst, x, weight, bias, n := param("dst"), param("x"), param("weight"), param("bias"), param("n")
	eps, err := Param("eps").Resolve()
	if err != nil {
		panic(err)
	}
	mean, scale := s.moments(x, n, eps.Addr)
	i := GP64()
	XORQ(i, i)
	at := func(r Register) Mem { return Mem{Base: r, Index: i, Scale: 4} }
	Label("loop")
	v := s.load(at(x))
	VSUBPS(mean, v, v)
	VMULPS(scale, v, v)
	w := s.load(at(weight))
	VFMADD213PS(at(bias), w, v)
	VMOVUPS(v, at(dst))
	ADDQ(Imm(uint64(s.lanes())), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	done()
}

// quantise makes blocks of 32: see quantiseGo, with which it agrees to the
// bit.
func (s isa) quantise() {
	function("quantise"+s.String(), "func(quants *int8, scales *float32, offsets *int32, x *float32, blocks int)",
		"makes int8 blocks of 32.")
	quants, scales, offsets, x, blocks := param("quants"), param("scales"), param("offsets"), param("x"), param("blocks")
	Label("loop")
	v := make([]VecVirtual, 32/s.lanes())
	for j := range v {
		v[j] = s.load(Mem{Base: x, Disp: j * s.bytes()})
	}
	most := s.reg()
	for j := range v {
		if j == 0 {
			s.and(bits(0x7fffffff), v[0], most)
			continue
		}
		abs := s.reg()
		s.and(bits(0x7fffffff), v[j], abs)
		VMAXPS(abs, most, most)
	}
	top := s.fold(most, maxps)
	// a block that is nearly zero is zero: its inverse would overflow
	mask := XMM()
	VCMPSS(Imm(13), constant(smallestBlock), top, mask)
	VANDPS(mask, top, top)
	scale, inv := XMM(), XMM()
	VDIVSS(constant(127), top, scale)
	VMOVSS(scale, Mem{Base: scales})
	VMOVSS(constant(127), inv)
	VDIVSS(top, inv, inv)
	VANDPS(mask, inv, inv)
	factor, sum := s.broadcast(inv), s.reg()
	for j := range v {
		VMULPS(factor, v[j], v[j])
		VCVTPS2DQ(v[j], v[j])
	}
	VPADDD(v[1], v[0], sum)
	for _, q := range v[2:] {
		VPADDD(q, sum, sum)
	}
	s.storeBytes(v, quants)
	total := s.fold(sum, addd)
	VPSLLD(Imm(7), total, total)
	zero := XMM()
	VPXOR(zero, zero, zero)
	VPSUBD(total, zero, total)
	VMOVD(total, Mem{Base: offsets})
	ADDQ(Imm(32), quants)
	ADDQ(Imm(4), scales)
	ADDQ(Imm(4), offsets)
	ADDQ(U32(128), x)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	done()
}

// smallestBlock is the largest magnitude below which a block counts as zero;
// the same as in quantiseGo.
const smallestBlock = 1e-35

// storeBytes stores 32 int32 as bytes; v is consumed.
func (s isa) storeBytes(v []VecVirtual, to Register) {
	if s.wide {
		for j := range v {
			VPMOVSDB(v[j], Mem{Base: to, Disp: 16 * j})
		}
		return
	}
	// packing works in 128-bit lanes: 32-bit groups come out as 0 2 4 6 1 3 5 7
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], s.load(lanesOrder()), v[0])
	VMOVDQU(v[0], Mem{Base: to})
}

func lanesOrder() Mem {
	m := GLOBL("packedOrder", RODATA|NOPTR)
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(v))
	}
	return m
}

func vectors() {
	for _, s := range isas {
		s.elementwise("exp", "sets dst = e^x.", s.exp)
		s.elementwise("sigmoid", "sets dst = 1/(1+e^-x).", s.sigmoid)
		s.elementwise("tanh", "sets dst = tanh x.", s.tanh)
		s.elementwise("squaredReLU", "sets dst = max(x,0)².", func(x VecVirtual) {
			zero := s.zero()
			VMAXPS(x, zero, x)
			VMULPS(x, x, x)
		})
		s.elementwise("silu", "sets dst = x/(1+e^-x).", func(x VecVirtual) {
			v := s.reg()
			VMOVAPS(x, v)
			s.sigmoid(v)
			VMULPS(v, x, x)
		})
		s.add()
		s.addGated()
		s.shift()
		s.shiftBy()
		s.layerNorm()
		s.quantise()
	}
}
