package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lookAhead is how many entries of a list ahead weights are prefetched. Lists
// are padded by as many.
const lookAhead = 16

// A skipTile multiplies one or two adjacent panels with one row of x, of which
// only the columns in a list are read:
//
//	y[lane] = Σ_c w[cols[c]][lane]·x[cols[c]]
//
// in the order of the list. Two panels hide each other's latency. Arguments:
// panel the bytes of one, n the length of the list, a multiple of 4.
type skipTile struct {
	floatTile
	panels int
}

func (t skipTile) build() {
	elem := map[string]string{"f32": "F32", "f16": "F16", "bf16": "BF16"}[t.elem]
	name := fmt.Sprintf("skip%sx%d%v", elem, t.panels, isa{t.wide})
	TEXT(name, NOSPLIT, "func(w *byte, cols *int32, x, y *float32, panel, n int)")
	Doc(fmt.Sprintf("%s: listed columns of %d panels of %s weights, one row of x.", name, t.panels, t.elem))
	Pragma("noescape")
	get := func(name string) Register { return Load(Param(name), GP64()) }
	w, cols, x, panel, n := get("w"), get("cols"), get("x"), get("panel"), get("n")
	ws := []Register{w, GP64()}[:t.panels]
	if t.panels == 2 {
		LEAQ(Mem{Base: w, Index: panel, Scale: 1}, ws[1])
	}
	acc := make([]VecVirtual, t.panels*t.lanes/t.width())
	for h := range acc {
		acc[h] = t.vector()
		zero(acc[h], t.wide)
	}
	perPanel := len(acc) / t.panels
	shift := map[int]uint64{2: 6, 4: 7}[t.elemBytes()] // of the bytes of a column
	Label("loop")
	for u := range 4 {
		ahead, col := GP64(), GP64()
		MOVL(Mem{Base: cols, Disp: 4 * (u + lookAhead)}, ahead.As32())
		SHLQ(Imm(shift), ahead)
		for _, base := range ws {
			for b := 0; b < panelRows*t.elemBytes(); b += 64 {
				PREFETCHT0(Mem{Base: base, Index: ahead, Scale: 1, Disp: b})
			}
		}
		MOVL(Mem{Base: cols, Disp: 4 * u}, col.As32())
		value := t.vector()
		VBROADCASTSS(Mem{Base: x, Index: col, Scale: 4}, value)
		SHLQ(Imm(shift), col)
		for h := range acc {
			v := t.loadWeights(Mem{Base: ws[h/perPanel], Index: col, Scale: 1, Disp: h % perPanel * t.width() * t.elemBytes()})
			VFMADD231PS(v, value, acc[h])
		}
	}
	ADDQ(Imm(16), cols)
	SUBQ(Imm(4), n)
	JG(LabelRef("loop"))
	y := get("y")
	for h := range acc {
		VMOVUPS(acc[h], Mem{Base: y, Disp: 4 * t.width() * h})
	}
	VZEROUPPER()
	RET()
}

// nonzero lists which of n values, a multiple of 16, are not zero: their index
// plus first. dst has room for n entries and 16 more. It returns how many.
func nonzero() {
	TEXT("nonzeroAVX512", NOSPLIT, "func(dst *int32, x *float32, first, n int) int")
	Doc("nonzeroAVX512 lists the indices of values that are not zero.")
	Pragma("noescape")
	get := func(name string) Register { return Load(Param(name), GP64()) }
	dst, x, first, n := get("dst"), get("x"), get("first"), get("n")
	start := GP64()
	MOVQ(dst, start)
	index, step, none := ZMM(), ZMM(), ZMM()
	VPBROADCASTD(first.(GPVirtual).As32(), index)
	VPADDD(lanesOf(func(i int) uint32 { return uint32(i) }), index, index)
	VMOVUPS(lanesOf(func(int) uint32 { return 16 }), step)
	VPXORD(none, none, none)
	Label("loop")
	k, bits, list := K(), GP32(), ZMM()
	VCMPPS(Imm(4), Mem{Base: x}, none, k) // not equal, or NaN
	VPCOMPRESSD(index, k, list)
	VMOVDQU32(list, Mem{Base: dst})
	KMOVW(k, bits)
	POPCNTL(bits, bits)
	LEAQ(Mem{Base: dst, Index: bits.As64(), Scale: 4}, dst)
	VPADDD(step, index, index)
	ADDQ(Imm(64), x)
	SUBQ(Imm(16), n)
	JG(LabelRef("loop"))
	SUBQ(start, dst)
	SHRQ(Imm(2), dst)
	Store(dst, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// lanesOf is a vector in memory with a value for each lane.
func lanesOf(value func(i int) uint32) Mem {
	m := GLOBL(fmt.Sprintf("lanes%dto%d", value(0), value(15)), RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(value(i)))
	}
	return m
}

// skipQ8 multiplies a panel of int8 weights with one row of x, of which only
// groups of 4 columns in a list are read. blocks has two values for each block
// with such groups, n blocks: its number and how many groups it has. groups has
// two values for each group: the offset of its weights from w and of its
// quants from xq. Sums are those of the dense tile but for what is zero.
func skipQ8(wide bool) {
	s := isa{wide}
	name := map[bool]string{true: "skipQ8VNNI", false: "skipQ8AVX2"}[wide]
	TEXT(name, NOSPLIT, "func(w *byte, blocks, groups *int32, n int, xq *int8, xs *float32, xo *int32, y *float32)")
	Doc(name + ": listed columns of a panel of int8 weights, one row of x.")
	Pragma("noescape")
	get := func(name string) Register { return Load(Param(name), GP64()) }
	w, blocks, groups, n := get("w"), get("blocks"), get("groups"), get("n")
	xq, xs, xo := get("xq"), get("xs"), get("xo")
	acc, sums := make([]VecVirtual, panelRows/s.lanes()), make([]VecVirtual, panelRows/s.lanes())
	for h := range acc {
		acc[h], sums[h] = s.zero(), s.reg()
	}
	var ones, bias VecVirtual
	if !wide {
		ones, bias = s.load(bits(0x00010001)), s.load(bits(0x80808080))
	}
	Label("block")
	block, count, at, quants := GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: blocks}, block.As32())
	MOVL(Mem{Base: blocks, Disp: 4}, count.As32())
	for h := range sums {
		if wide {
			VPBROADCASTD(Mem{Base: xo, Index: block, Scale: 4}, sums[h])
		} else {
			VPXOR(sums[h], sums[h], sums[h])
		}
	}
	Label("group")
	MOVL(Mem{Base: groups, Disp: 8 * lookAhead}, at.As32())
	PREFETCHT0(Mem{Base: w, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: w, Index: at, Scale: 1, Disp: 64})
	MOVL(Mem{Base: groups}, at.As32())
	MOVL(Mem{Base: groups, Disp: 4}, quants.As32())
	q := s.reg()
	if !wide {
		VPBROADCASTD(Mem{Base: xq, Index: quants, Scale: 1}, q)
	}
	for h := range sums {
		from := Mem{Base: w, Index: at, Scale: 1, Disp: h * s.bytes()}
		v := s.reg()
		if wide {
			VMOVDQU8(from, v)
			dotBytes(Mem{Base: xq, Index: quants, Scale: 1}, v, sums[h])
			continue
		}
		abs := s.reg()
		VPXOR(from, bias, v)
		VPABSB(v, abs)
		VPSIGNB(v, q, v)
		VPMADDUBSW(v, abs, v)
		VPMADDWD(ones, v, v)
		VPADDD(v, sums[h], sums[h])
	}
	ADDQ(Imm(8), groups)
	DECQ(count)
	JNZ(LabelRef("group"))
	IMUL3Q(U32(q8BlockBytes), block, at)
	scale := s.reg()
	VBROADCASTSS(Mem{Base: xs, Index: block, Scale: 4}, scale)
	for h := range sums {
		t := s.reg()
		VCVTPH2PS(Mem{Base: w, Index: at, Scale: 1, Disp: q8Quants + h*s.bytes()/2}, t)
		VMULPS(scale, t, t)
		VCVTDQ2PS(sums[h], sums[h])
		VFMADD231PS(t, sums[h], acc[h])
	}
	ADDQ(Imm(8), blocks)
	DECQ(n)
	JNZ(LabelRef("block"))
	y := get("y")
	for h := range acc {
		VMOVUPS(acc[h], Mem{Base: y, Disp: h * s.bytes()})
	}
	VZEROUPPER()
	RET()
}

func skipTiles() {
	for _, elem := range []string{"f32", "f16", "bf16"} {
		for _, panels := range []int{2, 1} {
			skipTile{floatTile{elem: elem, wide: true, lanes: 32}, panels}.build()
			skipTile{floatTile{elem: elem, lanes: 32}, panels}.build()
		}
	}
	skipQ8(true)
	skipQ8(false)
	nonzero()
}
