package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	q8Quants     = 32 * panelRows // bytes of quants in a block of a panel
	q8BlockBytes = q8Quants + 2*panelRows
	q8Signature  = "func(w, ws *byte, xq *int8, xs *float32, xo *int32, y *float32, qstride, sstride, ystride, blocks int)"
)

// dotBytes is VPDPBUSD with x broadcast from memory, which this version of avo
// does not know: acc += Σ of 4 adjacent products of unsigned w and signed x.
func dotBytes(x Mem, w, acc Register) {
	Instruction(&ir.Instruction{
		Opcode: "VPDPBUSD", Suffixes: []string{"BCST"},
		Operands: []Op{x, w, acc}, Inputs: []Op{x, w, acc}, Outputs: []Op{acc},
		ISA: []string{"AVX512VNNI"},
	})
}

// A q8Tile multiplies lanes of a panel of int8 weights with n rows of int8
// activations:
//
//	y[i][lane] = Σ_b (ws[b][lane]·xs[i][b])·float(xo[i][b] + Σ_k u[b][k][lane]·xq[i][b][k])
//
// with u = q+128 as stored and xo = -128·Σxq. Blocks in order, one fused
// multiply-add each. w is the first lane's first quant and ws its first scale;
// strides are in bytes.
type q8Args struct {
	w, ws, blocks Register
	xq, xs, xo, y rowSet
}

func q8Load(n int) q8Args {
	get := func(name string) Register { return Load(Param(name), GP64()) }
	a := q8Args{w: get("w"), ws: get("ws"), blocks: get("blocks")}
	a.xq = rows(get("xq"), get("qstride"), n)
	sstride := get("sstride")
	a.xs = rows(get("xs"), sstride, n)
	a.xo = rowSet{bases: []Register{}, stride: sstride, triple: a.xs.triple}
	a.xo.bases = rowBases(get("xo"), sstride, n)
	return a
}

// rowBases is the bases of rows for a second array of a known stride.
func rowBases(base, stride Register, n int) []Register {
	bases := []Register{base}
	for i := 4; i < n; i += 4 {
		next := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: stride, Scale: 4}, next)
		bases = append(bases, next)
	}
	return bases
}

func (a q8Args) next() {
	ADDQ(U32(q8BlockBytes), a.w)
	ADDQ(U32(q8BlockBytes), a.ws)
	a.xq.advance(32)
	a.xs.advance(4)
	a.xo.advance(4)
	DECQ(a.blocks)
	JNZ(LabelRef("loop"))
}

// q8VNNI covers a whole panel, a half at a time so that the integer sums of up
// to 8 rows fit beside their 16 results.
func q8VNNI(n int) {
	name := fmt.Sprintf("tileQ8x%dVNNI", n)
	TEXT(name, NOSPLIT, q8Signature)
	Doc(fmt.Sprintf("%s: a panel of int8 weights, %d rows of x.", name, n))
	Pragma("noescape")
	a := q8Load(n)
	acc := make([][2]VecVirtual, n)
	for i := range acc {
		for h := range acc[i] {
			acc[i][h] = ZMM()
			VPXORD(acc[i][h], acc[i][h], acc[i][h])
		}
	}
	Label("loop")
	for h := range 2 {
		sums := make([]VecVirtual, n)
		for i := range sums {
			sums[i] = ZMM()
			VPBROADCASTD(a.xo.at(i, 0), sums[i])
		}
		for j := range 8 {
			if h == 0 {
				prefetch(a.w, 128*j)
				prefetch(a.w, 128*j+64)
			}
			v := ZMM()
			VMOVDQU8(Mem{Base: a.w, Disp: 128*j + 64*h}, v)
			for i := range sums {
				dotBytes(a.xq.at(i, 4*j), v, sums[i])
			}
		}
		scale := ZMM()
		VCVTPH2PS(Mem{Base: a.ws, Disp: 32 * h}, scale)
		for i := range sums {
			t := ZMM()
			VMULPS_BCST(a.xs.at(i, 0), scale, t)
			VCVTDQ2PS(sums[i], sums[i])
			VFMADD231PS(t, sums[i], acc[i][h])
		}
	}
	a.next()
	y := rows(Load(Param("y"), GP64()), Load(Param("ystride"), GP64()), n)
	for i := range acc {
		for h := range acc[i] {
			VMOVUPS(acc[i][h], y.at(i, 64*h))
		}
	}
	VZEROUPPER()
	RET()
}

// q8AVX2 covers groups of 8 rows of the panel. Without VPDPBUSD a product of
// unsigned and signed bytes saturates at 16 bits, so the weights' sign moves
// to the activations: |w|·(x·sign w) is at most 128·127, twice.
func q8AVX2(n, groups int) {
	name := fmt.Sprintf("tileQ8x%dAVX2", n)
	TEXT(name, NOSPLIT, q8Signature)
	Doc(fmt.Sprintf("%s: %d rows of a panel of int8 weights, %d rows of x.", name, 8*groups, n))
	Pragma("noescape")
	a := q8Load(n)
	ones, bias, t := YMM(), YMM(), GP32()
	broadcast := func(bits uint32, v VecVirtual) {
		MOVL(U32(bits), t)
		VMOVD(t, v.AsX())
		VPBROADCASTD(v.AsX(), v)
	}
	broadcast(0x00010001, ones)
	broadcast(0x80808080, bias)
	acc, sums := make([][]VecVirtual, n), make([][]VecVirtual, n)
	for i := range acc {
		acc[i], sums[i] = make([]VecVirtual, groups), make([]VecVirtual, groups)
		for g := range acc[i] {
			acc[i][g], sums[i][g] = YMM(), YMM()
			VXORPS(acc[i][g], acc[i][g], acc[i][g])
		}
	}
	Label("loop")
	for i := range sums {
		for g := range sums[i] {
			VPXOR(sums[i][g], sums[i][g], sums[i][g])
		}
	}
	for j := range 8 {
		if groups == 4 {
			prefetch(a.w, 128*j)
			prefetch(a.w, 128*j+64)
		}
		for g := range groups {
			v, abs := YMM(), YMM()
			VPXOR(Mem{Base: a.w, Disp: 128*j + 32*g}, bias, v)
			VPABSB(v, abs)
			for i := range sums {
				x := YMM()
				VPBROADCASTD(a.xq.at(i, 4*j), x)
				VPSIGNB(v, x, x)
				VPMADDUBSW(x, abs, x)
				VPMADDWD(ones, x, x)
				VPADDD(x, sums[i][g], sums[i][g])
			}
		}
	}
	for g := range groups {
		scale := YMM()
		VCVTPH2PS(Mem{Base: a.ws, Disp: 16 * g}, scale)
		for i := range sums {
			x := YMM()
			VBROADCASTSS(a.xs.at(i, 0), x)
			VMULPS(x, scale, x)
			VCVTDQ2PS(sums[i][g], sums[i][g])
			VFMADD231PS(x, sums[i][g], acc[i][g])
		}
	}
	a.next()
	y := rows(Load(Param("y"), GP64()), Load(Param("ystride"), GP64()), n)
	for i := range acc {
		for g := range acc[i] {
			VMOVUPS(acc[i][g], y.at(i, 32*g))
		}
	}
	VZEROUPPER()
	RET()
}

func q8Tiles() {
	for _, n := range []int{1, 2, 3, 4, 6, 8} {
		q8VNNI(n)
	}
	q8AVX2(1, 4)
	q8AVX2(2, 2)
	q8AVX2(4, 1)
}
