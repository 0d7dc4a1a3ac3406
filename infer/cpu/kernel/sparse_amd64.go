package kernel

var sparsePaths = [paths]*sparseTiles{
	AVX2:       &sparseAVX2,
	AVX512:     &sparseAVX512,
	AVX512VNNI: &sparseVNNI,
}

var sparseAVX2 = sparseTiles{
	f32:  [2]skipTile{skipF32x1AVX2, skipF32x2AVX2},
	f16:  [2]skipTile{skipF16x1AVX2, skipF16x2AVX2},
	bf16: [2]skipTile{skipBF16x1AVX2, skipBF16x2AVX2},
	q8:   skipQ8AVX2,
}

var sparseAVX512 = sparseTiles{
	f32:     [2]skipTile{skipF32x1AVX512, skipF32x2AVX512},
	f16:     [2]skipTile{skipF16x1AVX512, skipF16x2AVX512},
	bf16:    [2]skipTile{skipBF16x1AVX512, skipBF16x2AVX512},
	q8:      skipQ8AVX2,
	nonzero: nonzeroAVX512,
}

var sparseVNNI = sparseTiles{
	f32: sparseAVX512.f32, f16: sparseAVX512.f16, bf16: sparseAVX512.bf16,
	q8: skipQ8VNNI, nonzero: nonzeroAVX512,
}
