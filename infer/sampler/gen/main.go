// Command gen writes the AVX2 form of the sampler's block functions. What they
// compute is said by blockMaxGo, blockMassGo, mass and decayGo in the sampler package,
// and they agree with them bit for bit: no fused multiplication and addition.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	blockLen = 64
	lanes    = 8
)

func main() {
	ConstraintExpr("amd64")
	blockMax()
	blockMass()
	decay()
	Generate()
}

// constant is a vector of one float32 or 64-bit pattern in memory.
func constant32(name string, bits uint32) operand.Mem {
	m := GLOBL(name, attrRodata)
	for i := range lanes {
		DATA(4*i, operand.U32(bits))
	}
	return m
}

func constant64(name string, bits uint64) operand.Mem {
	m := GLOBL(name, attrRodata)
	for i := range lanes / 2 {
		DATA(8*i, operand.U64(bits))
	}
	return m
}

// attrRodata is RODATA|NOPTR.
const attrRodata = 8 | 16

func float(name string, x float32) operand.Mem { return constant32(name, math.Float32bits(x)) }

func blockMax() {
	negInf := float("negInf", float32(math.Inf(-1)))

	TEXT("blockMaxAVX2", 4, "func(best *float32, z *float32, blocks int)")
	Doc("blockMaxAVX2 is blockMaxGo for one block or more.")
	Pragma("noescape")
	best, z, n := Load(Param("best"), GP64()), Load(Param("z"), GP64()), Load(Param("blocks"), GP64())
	Label("block")
	acc := [2]reg.VecVirtual{YMM(), YMM()}
	for _, a := range acc {
		VMOVUPS(negInf, a)
	}
	for i := range blockLen / lanes {
		v, a := YMM(), acc[i%2]
		VMOVUPS(operand.Mem{Base: z, Disp: 4 * lanes * i}, v)
		VMAXPS(a, v, a) // of a NaN and a number, the second: the maximum so far
	}
	VMAXPS(acc[0], acc[1], acc[0])
	high := XMM()
	low := acc[0].AsX()
	VEXTRACTF128(operand.U8(1), acc[0], high)
	VMAXPS(low, high, low)
	VPERMILPS(operand.U8(0b01_00_11_10), low, high)
	VMAXPS(low, high, low)
	VPERMILPS(operand.U8(0b10_11_00_01), low, high)
	VMAXPS(low, high, low)
	VMOVSS(low, operand.Mem{Base: best})
	ADDQ(operand.U8(4), best)
	ADDQ(operand.U32(4*blockLen), z)
	DECQ(n)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

func blockMass() {
	floor := float("expFloor", -64)
	one := float("one", 1)
	poly := [6]operand.Mem{
		float("exp6", 0x1.41fbc2p-13),
		float("exp5", 0x1.5f3e54p-10),
		float("exp4", 0x1.3b2d4cp-07),
		float("exp3", 0x1.c6aee8p-05),
		float("exp2", 0x1.ebfbdcp-03),
		float("exp1", 0x1.62e430p-01),
	}
	roundBias := float("roundBias", 3<<22)
	unit := constant32("massUnit", 44<<23) // multiplies a float32 by 2^44
	bias := math.Float64bits(1 << 52)
	massBias := constant64("massBias", bias)

	TEXT("blockMassAVX2", 4, "func(sums *uint64, weights *float32, z *float32, blocks int, m float32, scale float32, theta float32)")
	Doc("blockMassAVX2 is blockMassGo for one block or more.")
	Pragma("noescape")
	sums, weights := Load(Param("sums"), GP64()), Load(Param("weights"), GP64())
	z, n := Load(Param("z"), GP64()), Load(Param("blocks"), GP64())
	m, scale, theta, round, bias64 := YMM(), YMM(), YMM(), YMM(), YMM()
	broadcast("m", m)
	broadcast("scale", scale)
	broadcast("theta", theta)
	VMOVUPS(roundBias, round)
	VMOVUPD(massBias, bias64)
	Label("block")
	acc := YMM()
	VPXOR(acc, acc, acc)
	for i := range blockLen / lanes {
		y, t, p, kept := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(operand.Mem{Base: z, Disp: 4 * lanes * i}, y)
		VCMPPS(operand.U8(greaterOrEqual), theta, y, kept)
		VSUBPS(m, y, y)
		VMULPS(scale, y, y)
		VMAXPS(floor, y, y) // of NaN and a number, the second: the floor
		VMOVUPS(floor, t)
		VBLENDVPS(kept, y, t, y)
		VADDPS(round, y, t)
		VSUBPS(round, t, p)
		VSUBPS(p, y, y) // the fraction
		VMULPS(poly[0], y, p)
		for _, c := range poly[1:] {
			VADDPS(c, p, p)
			VMULPS(p, y, p)
		}
		VADDPS(one, p, p)
		VPSLLD(operand.U8(23), t, t)
		VPADDD(t, p, p)
		VMOVDQU(p, operand.Mem{Base: weights, Disp: 4 * lanes * i})
		VPADDD(unit, p, p)
		high, low := YMM(), YMM()
		VCVTPS2PD(p.AsX(), low)
		VEXTRACTF128(operand.U8(1), p, high.AsX())
		VCVTPS2PD(high.AsX(), high)
		VADDPD(bias64, low, low)
		VADDPD(bias64, high, high)
		VPADDQ(low, acc, acc)
		VPADDQ(high, acc, acc)
	}
	high, sum, rest := XMM(), GP64(), GP64()
	low := acc.AsX()
	VEXTRACTI128(operand.U8(1), acc, high)
	VPADDQ(high, low, low)
	VMOVQ(low, sum)
	VPEXTRQ(operand.U8(1), low, rest)
	ADDQ(rest, sum)
	biases := GP64()
	MOVQ(operand.U64(bias<<6), biases) // of the block's 64 tokens; all sums are modulo 2^64
	SUBQ(biases, sum)
	MOVQ(sum, operand.Mem{Base: sums})
	ADDQ(operand.U8(8), sums)
	ADDQ(operand.U32(4*blockLen), weights)
	ADDQ(operand.U32(4*blockLen), z)
	DECQ(n)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

func decay() {
	negligible := float("negligible", 0x1p-64)

	TEXT("decayAVX2", 4, "func(weights *float32, vectors int, decay float32)")
	Doc("decayAVX2 is decayGo for one vector of 8 or more.")
	Pragma("noescape")
	weights, n := Load(Param("weights"), GP64()), Load(Param("vectors"), GP64())
	factor, least := YMM(), YMM()
	broadcast("decay", factor)
	VMOVUPS(negligible, least)
	Label("vector")
	v, kept := YMM(), YMM()
	VMULPS(operand.Mem{Base: weights}, factor, v)
	VCMPPS(operand.U8(notLess), least, v, kept)
	VANDPS(kept, v, v)
	VMOVUPS(v, operand.Mem{Base: weights})
	ADDQ(operand.U8(4*lanes), weights)
	DECQ(n)
	JNZ(operand.LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// notLess is the predicate of VCMPPS that is true for NaN and raises nothing.
const notLess = 0x15

// greaterOrEqual is the predicate of VCMPPS that is false for NaN and raises nothing.
const greaterOrEqual = 0x1d

// broadcast loads a parameter into all lanes.
func broadcast(param string, v reg.VecVirtual) {
	x := Load(Param(param), XMM())
	VBROADCASTSS(x, v)
}
