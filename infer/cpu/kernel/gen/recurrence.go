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

// A headLoop runs over the elements of one head and, outside of that, over
// tokens. Inputs lie rows apart that are too far for the hardware's prefetch,
// so each is prefetched two tokens ahead. The pointers in args stay as they
// are, for the garbage collector may look at them.
type headLoop struct {
	isa
	fields
	i, n            Register // element, number of elements
	offset, twoRows Register // bytes from the first row to the token's; bytes of two rows
	bonus           Register // of the token
}

func (s isa) headLoop(f fields) headLoop {
	l := headLoop{isa: s, fields: f, i: GP64(), n: f.get("n"), offset: GP64(), twoRows: f.get("stride"), bonus: f.get("bonus")}
	XORQ(l.offset, l.offset)
	ADDQ(l.twoRows, l.twoRows)
	return l
}

// param is the current element of a parameter.
func (l headLoop) param(name string) Mem { return Mem{Base: l.get(name), Index: l.i, Scale: 4} }

// row is the token's row of an array, at the element.
func (l headLoop) row(name string) Mem {
	m := l.param(name)
	ADDQ(l.offset, m.Base)
	return m
}

// input is row, with a prefetch.
func (l headLoop) input(name string) Mem {
	m := l.row(name)
	ahead := GP64()
	LEAQ(Mem{Base: m.Base, Index: l.twoRows, Scale: 1}, ahead)
	PREFETCHT0(Mem{Base: ahead, Index: l.i, Scale: 4})
	return m
}

func (l headLoop) each(label string, body func()) {
	XORQ(l.i, l.i)
	Label(label)
	body()
	ADDQ(Imm(uint64(l.lanes())), l.i)
	CMPQ(l.i, l.n)
	JL(LabelRef(label))
}

// nextToken goes to label while there are rows.
func (l headLoop) nextToken(label string) {
	ADDQ(l.place("stride"), l.offset)
	ADDQ(Imm(4), l.bonus)
	DECQ(l.place("rows"))
	JNZ(LabelRef(label))
	done()
}

const decayScale = -0.606530659712633

// gate is the gate functions of one head; see TimeMix.
func (s isa) gate() {
	function("gate"+s.String(), "func(args *byte)", "computes the gates of one head for some tokens.")
	l := s.headLoop(arguments("r", "k", "v", "w", "a", "b", "vgate", "vfirst", "bonus",
		"w0", "a0", "v0", "kk", "ka", "rk", "n", "stride", "rows"))
	norm, inv, bonus := s.reg(), s.reg(), s.reg()
	Label("token")
	s.xor(norm, norm, norm)
	l.each("decay", func() {
		w := s.load(l.param("w0"))
		VADDPS(l.input("w"), w, w)
		s.sigmoid(w)
		VMULPS(constant(decayScale), w, w)
		s.exp(w)
		VMOVUPS(w, l.row("w"))
		kappa := s.load(l.input("k"))
		VMULPS(l.param("kk"), kappa, kappa)
		VMOVUPS(kappa, l.row("b"))
		VFMADD231PS(kappa, kappa, norm)
	})
	CMPQ(l.place("vgate"), Imm(0))
	JE(LabelRef("rate"))
	l.each("values", func() {
		g := s.load(l.param("v0"))
		VADDPS(l.input("vgate"), g, g)
		s.sigmoid(g)
		v, d := s.load(l.input("v")), s.load(l.input("vfirst"))
		VSUBPS(v, d, d)
		VFMADD231PS(d, g, v)
		VMOVUPS(v, l.row("v"))
	})
	Label("rate")
	VBROADCASTSS(s.fold(norm, addps), inv)
	VSQRTPS(inv, inv)
	VMAXPS(constant(1e-12), inv, inv)
	VDIVPS(inv, s.load(constant(1)), inv)
	s.xor(bonus, bonus, bonus)
	l.each("kappa", func() {
		rate := s.load(l.param("a0"))
		VADDPS(l.input("a"), rate, rate)
		s.sigmoid(rate)
		hat, neg := s.reg(), s.reg()
		VMULPS(l.row("b"), inv, hat)
		s.xor(bits(0x80000000), hat, neg)
		VMOVUPS(neg, l.row("a"))
		VMULPS(rate, hat, hat)
		VMOVUPS(hat, l.row("b"))
		VSUBPS(constant(1), rate, rate)
		VMULPS(l.param("ka"), rate, rate)
		VADDPS(constant(1), rate, rate)
		k := s.reg()
		VMULPS(l.row("k"), rate, k)
		VMOVUPS(k, l.row("k"))
		VMULPS(l.input("r"), k, k)
		VFMADD231PS(l.param("rk"), k, bonus)
	})
	VMOVSS(s.fold(bonus, addps), Mem{Base: l.bonus})
	l.nextToken("token")
}

// outNorm is the normalisation of one head, the bonus and the output gate.
func (s isa) outNorm() {
	function("outNorm"+s.String(), "func(args *byte)", "normalises one head for some tokens and applies bonus and gate.")
	l := s.headLoop(arguments("y", "v", "g", "bonus", "weight", "bias", "n", "stride", "rows", "eps"))
	bonus := s.reg()
	Label("token")
	y := l.get("y")
	ADDQ(l.offset, y)
	mean, scale := s.moments(y, l.n, l.place("eps"))
	VBROADCASTSS(Mem{Base: l.bonus}, bonus)
	l.each("element", func() {
		v := s.load(l.row("y"))
		VSUBPS(mean, v, v)
		VMULPS(scale, v, v)
		w := s.load(l.param("weight"))
		VFMADD213PS(l.param("bias"), w, v)
		VFMADD231PS(l.row("v"), bonus, v)
		VMULPS(l.input("g"), v, v)
		VMOVUPS(v, l.row("y"))
	})
	l.nextToken("token")
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
	return wkvLoop{
		isa: s, j: GP64(), state: f.get("state"), stride: f.get("stride"),
		r: f.get("r"), w: f.get("w"), k: f.get("k"), v: f.get("v"), a: f.get("a"), b: f.get("b"), y: f.get("y"),
	}
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
	for _, s := range isas {
		s.linearGate()
		s.linear()
	}
}
