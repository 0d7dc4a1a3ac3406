package kernel

var sparsePaths = [paths]*sparseTiles{
	AVX2:       &sparseAVX2,
	AVX512:     &sparseAVX512,
	AVX512VNNI: &sparseVNNI,
}

var sparseAVX2 = sparseTiles{
	f32:  []sparseTile{{2, skipF32x2AVX2}, {1, skipF32x1AVX2}},
	f16:  []sparseTile{{2, skipF16x2AVX2}, {1, skipF16x1AVX2}},
	bf16: []sparseTile{{2, skipBF16x2AVX2}, {1, skipBF16x1AVX2}},
	q8:   skipQ8AVX2,
}

var sparseAVX512 = sparseTiles{
	f32: []sparseTile{{4, skipF32x4AVX512},
		{3, skipF32x3AVX512}, {2, skipF32x2AVX512}, {1, skipF32x1AVX512}},
	f16: []sparseTile{{4, skipF16x4AVX512},
		{3, skipF16x3AVX512}, {2, skipF16x2AVX512}, {1, skipF16x1AVX512}},
	bf16: []sparseTile{{4, skipBF16x4AVX512},
		{3, skipBF16x3AVX512}, {2, skipBF16x2AVX512}, {1, skipBF16x1AVX512}},
	q8: skipQ8AVX2,
}

var sparseVNNI = sparseTiles{f32: sparseAVX512.f32, f16: sparseAVX512.f16, bf16: sparseAVX512.bf16, q8: skipQ8VNNI}
