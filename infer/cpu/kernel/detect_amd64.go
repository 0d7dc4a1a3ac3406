package kernel

import "golang.org/x/sys/cpu"

func detect() [paths]*table {
	list := [paths]*table{Go: plainTable()}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !x.HasF16C {
		return list
	}
	list[AVX2] = tableAVX2()
	if !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL {
		return list
	}
	list[AVX512] = tableAVX512(&tilesAVX512)
	if x.HasAVX512VNNI {
		list[AVX512VNNI] = tableAVX512(&tilesVNNI)
	}
	return list
}

func tableAVX2() *table {
	t := vectorsAVX2.table()
	t.product = tilesAVX2.product
	t.read = func(b []byte) { readAVX2(&b[0], len(b)) }
	return t
}

func tableAVX512(tiles *tiles) *table {
	t := vectorsAVX512.table()
	t.product = tiles.product
	t.read = func(b []byte) { readAVX512(&b[0], len(b)) }
	return t
}
