package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Arguments by pointer to a struct of 8-byte fields; the order is that of
// gateArgs, wkvArgs and normArgs in the package.
type fields struct {
	args  Register
	order []string
}

func arguments(order ...string) fields { return fields{param("args"), order} }

func (f fields) place(name string) Mem {
	for i, n := range f.order {
		if n == name {
			return Mem{Base: f.args, Disp: 8 * i}
		}
	}
	panic("no field " + name)
}

func (f fields) get(name string) Register {
	r := GP64()
	MOVQ(f.place(name), r)
	return r
}

const decayScale = -0.606530659712633

// gate is the gate functions of one head of one token; see TimeMix.
func (s isa) gate() {
	function("gate"+s.String(), "func(args *byte)", "computes the gates of one head of one token.")
	f := arguments("r", "k", "v", "w", "a", "b", "vgate", "vfirst", "w0", "a0", "v0", "kk", "ka", "rk", "n", "bonus")
	i, n := GP64(), f.get("n")
	at := func(name string) Mem { return Mem{Base: f.get(name), Index: i, Scale: 4} }
	next := func(label string) {
		ADDQ(Imm(uint64(s.lanes())), i)
		CMPQ(i, n)
		JL(LabelRef(label))
	}
	norm := s.zero()
	XORQ(i, i)
	Label("first")
	w := s.load(at("w0"))
	VADDPS(at("w"), w, w)
	s.sigmoid(w)
	VMULPS(constant(decayScale), w, w)
	s.exp(w)
	VMOVUPS(w, at("w"))
	kappa := s.load(at("k"))
	VMULPS(at("kk"), kappa, kappa)
	VMOVUPS(kappa, at("b"))
	VFMADD231PS(kappa, kappa, norm)
	next("first")

	gate := f.get("vgate")
	TESTQ(gate, gate)
	JZ(LabelRef("second"))
	XORQ(i, i)
	Label("values")
	g := s.load(at("v0"))
	VADDPS(at("vgate"), g, g)
	s.sigmoid(g)
	v, d := s.load(at("v")), s.load(at("vfirst"))
	VSUBPS(v, d, d)
	VFMADD231PS(d, g, v)
	VMOVUPS(v, at("v"))
	next("values")

	Label("second")
	inv := s.broadcast(s.fold(norm, addps))
	VSQRTPS(inv, inv)
	VMAXPS(constant(1e-12), inv, inv)
	VDIVPS(inv, s.load(constant(1)), inv)
	bonus := s.zero()
	XORQ(i, i)
	Label("loop")
	rate := s.load(at("a0"))
	VADDPS(at("a"), rate, rate)
	s.sigmoid(rate)
	hat, neg := s.reg(), s.reg()
	VMULPS(at("b"), inv, hat)
	s.xor(bits(0x80000000), hat, neg)
	VMOVUPS(neg, at("a"))
	VMULPS(rate, hat, hat)
	VMOVUPS(hat, at("b"))
	VSUBPS(constant(1), rate, rate)
	VMULPS(at("ka"), rate, rate)
	VADDPS(constant(1), rate, rate)
	k := s.reg()
	VMULPS(at("k"), rate, k)
	VMOVUPS(k, at("k"))
	VMULPS(at("r"), k, k)
	VFMADD231PS(at("rk"), k, bonus)
	next("loop")
	VMOVSS(s.fold(bonus, addps), f.place("bonus"))
	done()
}

// outNorm is the normalisation of one head of one token, the bonus and the
// output gate.
func (s isa) outNorm() {
	function("outNorm"+s.String(), "func(args *byte)", "normalises one head of one token and applies bonus and gate.")
	f := arguments("y", "v", "g", "weight", "bias", "n", "bonus", "eps")
	y, n := f.get("y"), f.get("n")
	mean, scale := s.moments(y, n, f.place("eps"))
	bonus := s.reg()
	VBROADCASTSS(f.place("bonus"), bonus)
	i := GP64()
	XORQ(i, i)
	at := func(name string) Mem { return Mem{Base: f.get(name), Index: i, Scale: 4} }
	Label("loop")
	v := s.load(at("y"))
	VSUBPS(mean, v, v)
	VMULPS(scale, v, v)
	w := s.load(at("weight"))
	VFMADD213PS(at("bias"), w, v)
	VFMADD231PS(at("v"), bonus, v)
	VMULPS(at("g"), v, v)
	VMOVUPS(v, at("y"))
	ADDQ(Imm(uint64(s.lanes())), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	done()
}

const headSize = 64

// A wkvLoop has what the passes over the keys of one token share: pointers to
// the current token's row of each input and the state.
type wkvLoop struct {
	isa
	r, w, k, v, a, b, y, state Register
	stride, j                  Register
}

func (s isa) wkvLoad(f fields) wkvLoop {
	return wkvLoop{isa: s, j: GP64(), state: f.get("state"), stride: f.get("stride"),
		r: f.get("r"), w: f.get("w"), k: f.get("k"), v: f.get("v"), a: f.get("a"), b: f.get("b"), y: f.get("y")}
}

// key broadcasts an input's value for key j.
func (l wkvLoop) key(input Register, disp int) VecVirtual {
	v := l.reg()
	VBROADCASTSS(Mem{Base: input, Index: l.j, Scale: 4, Disp: disp}, v)
	return v
}

func (l wkvLoop) nextToken() {
	for _, p := range []Register{l.r, l.w, l.k, l.v, l.a, l.b, l.y} {
		ADDQ(l.stride, p)
	}
}

// eachKey runs body for j = 0 to 63 with a pointer to the state's row of the
// key, from the state's address on.
func (l wkvLoop) eachKey(label string, body func(row Register)) {
	row := GP64()
	MOVQ(l.state, row)
	XORQ(l.j, l.j)
	Label(label)
	body(row)
	ADDQ(U32(4*headSize), row)
	INCQ(l.j)
	CMPQ(l.j, Imm(headSize))
	JL(LabelRef(label))
}

// project sets sums to S·a for the values covered.
func (l wkvLoop) project(label string, sums []VecVirtual) {
	for _, v := range sums {
		l.xor(v, v, v)
	}
	l.eachKey(label, func(row Register) {
		a := l.key(l.a, 0)
		for i, v := range sums {
			VFMADD231PS(Mem{Base: row, Disp: i * l.bytes()}, a, v)
		}
	})
}

var wkvFields = []string{"state", "r", "w", "k", "v", "a", "b", "y", "stride", "rows"}

// wkvWide is the recurrence of a head of 64 with all values in four vectors.
// While a token updates the state, the next token's S·a is summed from what is
// being stored, so that every token but the first passes over the state once.
func wkvWide() {
	s := isa{wide: true}
	function("wkv64AVX512", "func(args *byte)", "is the recurrence of one head of 64.")
	f := arguments(wkvFields...)
	l := s.wkvLoad(f)
	four := func() []VecVirtual { return []VecVirtual{s.reg(), s.reg(), s.reg(), s.reg()} }
	sa, v, y, next, state := four(), four(), four(), four(), four()
	l.project("start", sa)
	Label("token")
	// the row of a that the next token uses; the last token reads its own
	ahead := GP64()
	MOVQ(l.stride, ahead)
	last := GP64()
	XORQ(last, last)
	CMPQ(f.place("rows"), Imm(1))
	CMOVQEQ(last, ahead)
	ADDQ(l.a, ahead)
	for i := range v {
		VMOVUPS(Mem{Base: l.v, Disp: i * s.bytes()}, v[i])
		s.xor(y[i], y[i], y[i])
		s.xor(next[i], next[i], next[i])
	}
	l.eachKey("key", func(row Register) {
		w, b, k, r, a := l.key(l.w, 0), l.key(l.b, 0), l.key(l.k, 0), l.key(l.r, 0), l.key(ahead, 0)
		for i, c := range state {
			at := Mem{Base: row, Disp: i * s.bytes()}
			VMULPS(at, w, c)
			VFMADD231PS(sa[i], b, c)
			VFMADD231PS(v[i], k, c)
			VMOVUPS(c, at)
			VFMADD231PS(c, r, y[i])
			VFMADD231PS(c, a, next[i])
		}
	})
	for i := range y {
		VMOVUPS(y[i], Mem{Base: l.y, Disp: i * s.bytes()})
		VMOVAPS(next[i], sa[i])
	}
	l.nextToken()
	DECQ(f.place("rows"))
	JNZ(LabelRef("token"))
	done()
}

// wkvNarrow is the same with half of the values, which is what fits in 16
// registers, and two passes over the state for each token.
func wkvNarrow() {
	s := isa{}
	function("wkv64HalfAVX2", "func(args *byte)", "is the recurrence of 32 values of one head of 64.")
	f := arguments(wkvFields...)
	l := s.wkvLoad(f)
	four := func() []VecVirtual { return []VecVirtual{s.reg(), s.reg(), s.reg(), s.reg()} }
	sa, y, state := four(), four(), four()
	Label("token")
	l.project("start", sa)
	for i := range y {
		s.xor(y[i], y[i], y[i])
	}
	l.eachKey("key", func(row Register) {
		at := func(i int) Mem { return Mem{Base: row, Disp: i * s.bytes()} }
		w := l.key(l.w, 0)
		for i, c := range state {
			VMULPS(at(i), w, c)
		}
		b := l.key(l.b, 0)
		for i, c := range state {
			VFMADD231PS(sa[i], b, c)
		}
		k := l.key(l.k, 0)
		for i, c := range state {
			VFMADD231PS(Mem{Base: l.v, Disp: i * s.bytes()}, k, c)
			VMOVUPS(c, at(i))
		}
		r := l.key(l.r, 0)
		for i, c := range state {
			VFMADD231PS(c, r, y[i])
		}
	})
	for i := range y {
		VMOVUPS(y[i], Mem{Base: l.y, Disp: i * s.bytes()})
	}
	l.nextToken()
	DECQ(f.place("rows"))
	JNZ(LabelRef("token"))
	done()
}

func recurrence() {
	for _, s := range isas {
		s.gate()
		s.outNorm()
	}
	wkvWide()
	wkvNarrow()
}
