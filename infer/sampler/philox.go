package sampler

import "math/bits"

// Random is word number n, from 0, of the random stream of a seed: 64 bits
// that any device can compute without those before. It is the first two of
// the four 32-bit outputs of Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011), the first one being the low half, for
//
//	key     = (seed mod 2^32, seed >> 32)
//	counter = (n mod 2^32, n >> 32, 0, 0)
func Random(seed, n uint64) uint64 {
	out := philox([4]uint32{uint32(n), uint32(n >> 32)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(out[0]) | uint64(out[1])<<32
}

// philox is Philox4x32 with 10 rounds.
func philox(ctr [4]uint32, key [2]uint32) [4]uint32 {
	const (
		mul0, mul1   = 0xD2511F53, 0xCD9E8D57
		weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
	)
	for range 10 {
		hi0, lo0 := bits.Mul32(mul0, ctr[0])
		hi1, lo1 := bits.Mul32(mul1, ctr[2])
		ctr = [4]uint32{hi1 ^ ctr[1] ^ key[0], lo1, hi0 ^ ctr[3] ^ key[1], lo0}
		key[0] += weyl0
		key[1] += weyl1
	}
	return ctr
}
