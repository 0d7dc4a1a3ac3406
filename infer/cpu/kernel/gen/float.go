package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const panelRows = 32

// Streamed weights are prefetched twice: into the L2 cache far ahead, which the
// hardware's own prefetch within 4 KB does not do, and into L1 shortly before
// use. Distances in bytes; the two together brought 15 per cent of bandwidth
// over the best single one.
const (
	prefetchL1 = 1024
	prefetchL2 = 8192
)

// prefetch fetches ahead the line of a stream at a displacement.
func prefetch(stream Register, disp int) {
	PREFETCHT0(Mem{Base: stream, Disp: prefetchL1 + disp})
	PREFETCHT1(Mem{Base: stream, Disp: prefetchL2 + disp})
}

// A rowSet addresses rows of a strided array with few registers: rows 4i to
// 4i+3 are base i plus 0, 1, 2 or 3 strides.
type rowSet struct {
	bases          []Register
	stride, triple Register
}

// rows makes the addresses of n rows from the parameters' registers; base is
// consumed.
func rows(base, stride Register, n int) rowSet {
	r := rowSet{bases: []Register{base}, stride: stride}
	if n > 3 {
		r.triple = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.triple)
	}
	for i := 4; i < n; i += 4 {
		next := GP64()
		LEAQ(Mem{Base: r.bases[len(r.bases)-1], Index: stride, Scale: 4}, next)
		r.bases = append(r.bases, next)
	}
	return r
}

func (r rowSet) at(i, disp int) Mem {
	m := Mem{Base: r.bases[i/4], Disp: disp}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.stride, 1
	case 2:
		m.Index, m.Scale = r.stride, 2
	case 3:
		m.Index, m.Scale = r.triple, 1
	}
	return m
}

func (r rowSet) advance(bytes int) {
	for _, b := range r.bases {
		ADDQ(U32(uint32(bytes)), b)
	}
}

// A floatTile multiplies part of a panel with n rows: for the lanes it covers,
//
//	y[i][lane] (+)= Σ_k w[k][lane]·x[i][k]
//
// one fused multiply-add after the other in the order of k. Arguments: w the
// first lane's weight at the first k, x and y the first row, strides in bytes,
// k a multiple of 4, more not 0 to start from what y holds.
type floatTile struct {
	elem   string // f32, f16, bf16
	wide   bool   // AVX-512 rather than AVX2
	n      int
	lanes  int // rows of the panel: 32 or 16
	unroll int
}

func (t floatTile) name() string {
	isa := "AVX2"
	if t.wide {
		isa = "AVX512"
	}
	part := ""
	if t.lanes < panelRows {
		part = "Half"
	}
	return fmt.Sprintf("tile%s%sx%d%s", map[string]string{"f32": "F32", "f16": "F16", "bf16": "BF16"}[t.elem], part, t.n, isa)
}

func (t floatTile) vector() VecVirtual {
	if t.wide {
		return ZMM()
	}
	return YMM()
}

// width is the number of lanes in a vector.
func (t floatTile) width() int {
	if t.wide {
		return 16
	}
	return 8
}

func (t floatTile) elemBytes() int {
	if t.elem == "f32" {
		return 4
	}
	return 2
}

func zero(v VecVirtual, wide bool) {
	if wide {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// loadWeights widens a vector of weights to float32.
func (t floatTile) loadWeights(from Mem) VecVirtual {
	v := t.vector()
	switch t.elem {
	case "f32":
		VMOVUPS(from, v)
	case "f16":
		VCVTPH2PS(from, v)
	case "bf16":
		VPMOVZXWD(from, v)
		VPSLLD(Imm(16), v, v)
	}
	return v
}

func (t floatTile) build() {
	TEXT(t.name(), NOSPLIT, "func(w *byte, x, y *float32, xstride, ystride, k, more int)")
	Doc(fmt.Sprintf("%s: %d of a panel's rows, %s weights, %d rows of x.", t.name(), t.lanes, t.elem, t.n))
	Pragma("noescape")
	w, k := Load(Param("w"), GP64()), Load(Param("k"), GP64())
	more := Load(Param("more"), GP64())
	x := rows(Load(Param("x"), GP64()), Load(Param("xstride"), GP64()), t.n)
	y := rows(Load(Param("y"), GP64()), Load(Param("ystride"), GP64()), t.n)
	vectors := t.lanes / t.width()
	acc := make([][]VecVirtual, t.n)
	for i := range acc {
		acc[i] = make([]VecVirtual, vectors)
		for h := range acc[i] {
			acc[i][h] = t.vector()
		}
	}
	each := func(f func(i, h int, m Mem)) {
		for i := range acc {
			for h := range acc[i] {
				f(i, h, y.at(i, 4*t.width()*h))
			}
		}
	}
	TESTQ(more, more)
	JNZ(LabelRef("resume"))
	each(func(i, h int, _ Mem) { zero(acc[i][h], t.wide) })
	JMP(LabelRef("loop"))
	Label("resume")
	each(func(i, h int, m Mem) { VMOVUPS(m, acc[i][h]) })
	Label("loop")
	perK := panelRows * t.elemBytes()
	for u := range t.unroll {
		if t.lanes == panelRows {
			for b := 0; b < perK; b += 64 {
				prefetch(w, u*perK+b)
			}
		}
		t.step(w, x, acc, u)
	}
	ADDQ(U32(uint32(t.unroll*perK)), w)
	x.advance(4 * t.unroll)
	SUBQ(Imm(uint64(t.unroll)), k)
	JG(LabelRef("loop"))
	each(func(i, h int, m Mem) { VMOVUPS(acc[i][h], m) })
	VZEROUPPER()
	RET()
}

// step is one k: all weights of it, then each row's value with all of them.
func (t floatTile) step(w Register, x rowSet, acc [][]VecVirtual, u int) {
	perK := panelRows * t.elemBytes()
	weight := func(h int) Mem { return Mem{Base: w, Disp: u*perK + h*t.width()*t.elemBytes()} }
	if t.n*len(acc[0]) > 8 && !t.wide && t.lanes == panelRows { // too few registers for all weights at once
		xs := make([]VecVirtual, t.n)
		for i := range xs {
			xs[i] = t.vector()
			VBROADCASTSS(x.at(i, 4*u), xs[i])
		}
		for h := range acc[0] {
			v := t.loadWeights(weight(h))
			for i := range acc {
				VFMADD231PS(v, xs[i], acc[i][h])
			}
		}
		return
	}
	ws := make([]VecVirtual, len(acc[0]))
	for h := range ws {
		ws[h] = t.loadWeights(weight(h))
	}
	for i := range acc {
		b := t.vector()
		VBROADCASTSS(x.at(i, 4*u), b)
		for h := range ws {
			VFMADD231PS(ws[h], b, acc[i][h])
		}
	}
}

// widen converts n 16-bit weights, a multiple of 32, to float32.
func widen(elem string, wide bool) {
	t := floatTile{elem: elem, wide: wide}
	name := map[string]string{"f16": "widenF16", "bf16": "widenBF16"}[elem] + map[bool]string{true: "AVX512", false: "AVX2"}[wide]
	TEXT(name, NOSPLIT, "func(dst *float32, src *byte, n int)")
	Doc(name + " converts n weights, a multiple of 32.")
	Pragma("noescape")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	for i := 0; i < 32; i += t.width() {
		v := t.loadWeights(Mem{Base: src, Disp: 2 * i})
		VMOVUPS(v, Mem{Base: dst, Disp: 4 * i})
	}
	ADDQ(U32(64), src)
	ADDQ(U32(128), dst)
	SUBQ(Imm(32), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func floatTiles() {
	for _, elem := range []string{"f32", "f16", "bf16"} {
		for _, n := range []int{1, 2, 3, 4, 6, 8, 12} {
			unroll := 4
			if n > 4 {
				unroll = 2
			}
			floatTile{elem: elem, wide: true, n: n, lanes: 32, unroll: unroll}.build()
		}
		for _, n := range []int{1, 2, 3} {
			floatTile{elem: elem, n: n, lanes: 32, unroll: 2}.build()
		}
		for _, n := range []int{4, 6} {
			floatTile{elem: elem, n: n, lanes: 16, unroll: 2}.build()
		}
	}
	for _, elem := range []string{"f16", "bf16"} {
		widen(elem, true)
		widen(elem, false)
	}
}
