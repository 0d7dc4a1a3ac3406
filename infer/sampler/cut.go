package sampler

import "math"

// A candidate is a token that truncation looks at.
type candidate struct {
	key  uint32 // orders like z, see keyOf
	id   int32
	mass uint64
}

// keyOf maps floats to integers of the same order. -0 and +0 are one.
func keyOf(z float32) uint32 {
	b := math.Float32bits(z + 0)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// zOf is the inverse of keyOf.
func zOf(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}

// cutMass is the largest key such that the candidates with it or a larger one
// have a mass of at least target, or 0 if all of them have less.
func cutMass(c, scratch []candidate, target uint64) uint32 {
	return cut(c, scratch, target, func(c *candidate) uint64 { return c.mass })
}

// cutCount is the k-th largest key, or 0 if there are fewer candidates.
func cutCount(c, scratch []candidate, k int) uint32 {
	return cut(c, scratch, uint64(k), func(*candidate) uint64 { return 1 })
}

// cut finds a weighted quantile by radix selection: of each 8-bit digit of the
// key, from the highest, it finds the one in which the running weight, from
// the largest, reaches the target. scratch has room for len(c) and may be c
// itself, which is then overwritten.
func cut(c, scratch []candidate, target uint64, weight func(*candidate) uint64) uint32 {
	var prefix uint32
	for shift := 24; shift >= 0; shift -= 8 {
		var sums [256]uint64
		for i := range c {
			sums[c[i].key>>shift&255] += weight(&c[i])
		}
		digit := 255
		for ; digit >= 0 && sums[digit] < target; digit-- {
			target -= sums[digit]
		}
		if digit < 0 {
			return 0
		}
		prefix |= uint32(digit) << shift
		rest := scratch[:0]
		for i := range c {
			if c[i].key>>shift&255 == uint32(digit) {
				rest = append(rest, c[i])
			}
		}
		c = rest
	}
	return prefix
}
