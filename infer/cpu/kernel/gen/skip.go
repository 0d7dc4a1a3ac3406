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

// skip multiplies a panel with n rows of x, of which only the columns in a
// list are read: y[i][lane] = Σ_c w[cols[c]][lane]·x[i][cols[c]], in the order
// of the list. n, the length of the list, is a multiple of 4.
func (t floatTile) skip() {
	name := "skip" + t.name()[len("tile"):]
	TEXT(name, NOSPLIT, "func(w *byte, cols *int32, x, y *float32, xstride, ystride, n int)")
	Doc(fmt.Sprintf("%s: listed columns of a panel of %s weights, %d rows of x.", name, t.elem, t.n))
	Pragma("noescape")
	w, cols, n := Load(Param("w"), GP64()), Load(Param("cols"), GP64()), Load(Param("n"), GP64())
	x := rows(Load(Param("x"), GP64()), Load(Param("xstride"), GP64()), t.n)
	acc := make([][]VecVirtual, t.n)
	for i := range acc {
		acc[i] = make([]VecVirtual, t.lanes/t.width())
		for h := range acc[i] {
			acc[i][h] = t.vector()
			zero(acc[i][h], t.wide)
		}
	}
	shift := map[int]uint64{2: 6, 4: 7}[t.elemBytes()] // of the bytes of a column
	Label("loop")
	for u := range 4 {
		ahead, col := GP64(), GP64()
		MOVL(Mem{Base: cols, Disp: 4 * (u + lookAhead)}, ahead.As32())
		SHLQ(Imm(shift), ahead)
		for b := 0; b < panelRows*t.elemBytes(); b += 64 {
			PREFETCHT0(Mem{Base: w, Index: ahead, Scale: 1, Disp: b})
		}
		MOVL(Mem{Base: cols, Disp: 4 * u}, col.As32())
		at := rowSet{stride: x.stride, triple: x.triple}
		for _, base := range x.bases {
			r := GP64()
			LEAQ(Mem{Base: base, Index: col, Scale: 4}, r)
			at.bases = append(at.bases, r)
		}
		SHLQ(Imm(shift), col)
		ws := make([]VecVirtual, len(acc[0]))
		for h := range ws {
			ws[h] = t.loadWeights(Mem{Base: w, Index: col, Scale: 1, Disp: h * t.width() * t.elemBytes()})
		}
		for i := range acc {
			b := t.vector()
			VBROADCASTSS(at.at(i, 0), b)
			for h := range ws {
				VFMADD231PS(ws[h], b, acc[i][h])
			}
		}
	}
	ADDQ(Imm(16), cols)
	SUBQ(Imm(4), n)
	JG(LabelRef("loop"))
	y := rows(Load(Param("y"), GP64()), Load(Param("ystride"), GP64()), t.n)
	for i := range acc {
		for h := range acc[i] {
			VMOVUPS(acc[i][h], y.at(i, 4*t.width()*h))
		}
	}
	VZEROUPPER()
	RET()
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
		for _, n := range []int{1, 2, 3, 4} {
			floatTile{elem: elem, wide: true, n: n, lanes: 32}.skip()
		}
		for _, n := range []int{1, 2} {
			floatTile{elem: elem, n: n, lanes: 32}.skip()
		}
	}
	skipQ8(true)
	skipQ8(false)
}
