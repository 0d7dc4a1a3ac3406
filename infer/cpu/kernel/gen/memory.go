package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// memory reads n bytes, a multiple of 512, and nothing else: the limit of what
// streams weights.
func memory() {
	for _, wide := range []bool{true, false} {
		t := floatTile{elem: "f32", wide: wide}
		name := map[bool]string{true: "readAVX512", false: "readAVX2"}[wide]
		TEXT(name, NOSPLIT, "func(p *byte, n int)")
		Doc(name + " loads n bytes, a multiple of 512.")
		Pragma("noescape")
		p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64())
		Label("loop")
		for i := 0; i < 512; i += 4 * t.width() {
			if i%64 == 0 {
				prefetch(p, i)
			}
			VMOVUPS(Mem{Base: p, Disp: i}, t.vector())
		}
		ADDQ(U32(512), p)
		SUBQ(U32(512), n)
		JG(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
