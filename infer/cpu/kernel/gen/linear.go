package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// linearFields is linearArgs of the package.
var linearFields = []string{"state", "r", "w", "k", "v", "bonus", "y", "n", "stateStride", "wStride", "stride", "rows"}

// linear is the recurrence of RWKV-6 for as many values as four vectors hold, of
// a head with any number of keys. Every token passes over the state once.
func (s isa) linear() {
	function("linear"+s.String(), "func(args *byte)", "is the recurrence of RWKV-6 for four vectors of values of one head.")
	f := arguments(linearFields...)
	l := wkvLoop{isa: s, j: GP64(), r: f.get("r"), w: f.get("w"), k: f.get("k"), v: f.get("v"), y: f.get("y")}
	bonus, n, row := f.get("bonus"), f.get("n"), GP64()
	v, y := make([]VecVirtual, 4), make([]VecVirtual, 4)
	for i := range y {
		v[i], y[i] = s.reg(), s.reg()
	}
	Label("token")
	b := s.reg()
	VBROADCASTSS(Mem{Base: bonus}, b)
	for i := range y {
		VMOVUPS(Mem{Base: l.v, Disp: i * s.bytes()}, v[i])
		VMULPS(b, v[i], y[i])
	}
	MOVQ(f.place("state"), row)
	XORQ(l.j, l.j)
	Label("key")
	w, k, r := l.key(l.w, 0), l.key(l.k, 0), l.key(l.r, 0)
	for i := range y {
		at := Mem{Base: row, Disp: i * s.bytes()}
		old := s.load(at)
		VFMADD231PS(old, r, y[i])
		VMULPS(w, old, old)
		VFMADD231PS(v[i], k, old)
		VMOVUPS(old, at)
	}
	ADDQ(f.place("stateStride"), row)
	INCQ(l.j)
	CMPQ(l.j, n)
	JL(LabelRef("key"))
	for i := range y {
		VMOVUPS(y[i], Mem{Base: l.y, Disp: i * s.bytes()})
	}
	for _, p := range []Register{l.r, l.k, l.v, l.y} {
		ADDQ(f.place("stride"), p)
	}
	ADDQ(f.place("wStride"), l.w)
	ADDQ(Imm(4), bonus)
	DECQ(f.place("rows"))
	JNZ(LabelRef("token"))
	done()
}

// linearGate is what RWKV-6 computes before the recurrence of one head: the
// decays, unless they are static, and the bonus.
func (s isa) linearGate() {
	function("linearGate"+s.String(), "func(args *byte)", "computes decays and bonus of one head of RWKV-6 for some tokens.")
	l := s.headLoop(arguments("r", "k", "w", "bonus", "w0", "u", "n", "stride", "rows"))
	bonus := s.reg()
	Label("token")
	CMPQ(l.place("w0"), Imm(0))
	JE(LabelRef("static"))
	l.each("decay", func() {
		w := s.load(l.param("w0"))
		VADDPS(l.input("w"), w, w)
		s.exp(w)
		s.xor(bits(0x80000000), w, w)
		s.exp(w)
		VMOVUPS(w, l.row("w"))
	})
	Label("static")
	s.xor(bonus, bonus, bonus)
	l.each("bonusOf", func() {
		k := s.load(l.input("k"))
		VMULPS(l.input("r"), k, k)
		VFMADD231PS(l.param("u"), k, bonus)
	})
	VMOVSS(s.fold(bonus, addps), Mem{Base: l.bonus})
	l.nextToken("token")
}
