package checkpoint

import "encoding/binary"

// The packed types of ggml, as its ggml-quants.c and the gguf package for Python
// define them. A block begins or ends with fp16 scales; the sums are in float32, and
// every product is rounded before it is added, so that the values are the same to the
// bit.

func half(b []byte) float32 { return fromHalf(binary.LittleEndian.Uint16(b)) }

// unpackQ80 is d * q.
func unpackQ80(dst []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:34] {
		dst[i] = float32(int8(q)) * d
	}
}

// unpackQ40 is d * (q - 8). The low halves of the bytes are the first 16 values.
func unpackQ40(dst []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:18] {
		dst[i] = d * float32(int(q&15)-8)
		dst[i+16] = d * float32(int(q>>4)-8)
	}
}

// unpackQ41 is d * q + m.
func unpackQ41(dst []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i, q := range b[4:20] {
		dst[i] = float32(d*float32(q&15)) + m
		dst[i+16] = float32(d*float32(q>>4)) + m
	}
}

// unpackQ50 is d * (q - 16). The fifth bits of the values are a number of 32 bits.
func unpackQ50(dst []float32, b []byte) {
	d, high := half(b), binary.LittleEndian.Uint32(b[2:])
	for i, q := range b[6:22] {
		dst[i] = d * float32(int(q&15)|int(high>>i&1)<<4-16)
		dst[i+16] = d * float32(int(q>>4)|int(high>>(i+16)&1)<<4-16)
	}
}

// unpackQ51 is d * q + m.
func unpackQ51(dst []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), binary.LittleEndian.Uint32(b[4:])
	for i, q := range b[8:24] {
		dst[i] = float32(d*float32(uint32(q&15)|high>>i&1<<4)) + m
		dst[i+16] = float32(d*float32(uint32(q>>4)|high>>(i+16)&1<<4)) + m
	}
}

// iq4Values are what the codes of IQ4_NL stand for.
var iq4Values = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func unpackIQ4NL(dst []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:18] {
		dst[i] = d * iq4Values[q&15]
		dst[i+16] = d * iq4Values[q>>4]
	}
}

// unpackQ2K: 16 parts of 16 values of 2 bits; a part has a scale and a minimum of 4
// bits each.
func unpackQ2K(dst []float32, b []byte) {
	scales, qs, d, dmin := b[:16], b[16:80], half(b[80:]), half(b[82:])
	for part, s := range scales {
		scale, least := d*float32(s&15), dmin*float32(s>>4)
		from, shift := qs[part/8*32+part%2*16:], part/2%4*2
		for i := range 16 {
			dst[part*16+i] = float32(scale*float32(from[i]>>shift&3)) - least
		}
	}
}

// unpackQ3K: 16 parts of 16 values of 3 bits, of which the highest are apart; a part
// has a scale of 6 bits.
func unpackQ3K(dst []float32, b []byte) {
	high, qs, packed, d := b[:32], b[32:96], b[96:108], half(b[108:])
	for part := range 16 {
		s := packed[part%8]>>(part/8*4)&15 | packed[8+part%4]>>(part/4*2)&3<<4
		scale := d * float32(int(s)-32)
		from, shift := qs[part/8*32+part%2*16:], part/2%4*2
		bits := high[part%2*16:]
		for i := range 16 {
			q := int(from[i] >> shift & 3)
			if bits[i]>>(part/2)&1 == 0 {
				q -= 4
			}
			dst[part*16+i] = scale * float32(q)
		}
	}
}

// scaleAndLeast are the scale and the minimum, of 6 bits each, of one of the 8 parts
// of a block of Q4_K or Q5_K.
func scaleAndLeast(packed []byte, part int) (scale, least float32) {
	if part < 4 {
		return float32(packed[part] & 63), float32(packed[part+4] & 63)
	}
	both := packed[part+4]
	return float32(both&15 | packed[part-4]>>2&48), float32(both>>4 | packed[part]>>2&48)
}

// unpackQ4K: 8 parts of 32 values of 4 bits.
func unpackQ4K(dst []float32, b []byte) {
	d, dmin, packed, qs := half(b), half(b[2:]), b[4:16], b[16:144]
	for part := range 8 {
		s, m := scaleAndLeast(packed, part)
		scale, least := d*s, dmin*m
		from, shift := qs[part/2*32:], part%2*4
		for i := range 32 {
			dst[part*32+i] = float32(scale*float32(from[i]>>shift&15)) - least
		}
	}
}

// unpackQ5K is Q4_K with a fifth bit of each value apart.
func unpackQ5K(dst []float32, b []byte) {
	d, dmin, packed, high, qs := half(b), half(b[2:]), b[4:16], b[16:48], b[48:176]
	for part := range 8 {
		s, m := scaleAndLeast(packed, part)
		scale, least := d*s, dmin*m
		from, shift := qs[part/2*32:], part%2*4
		for i := range 32 {
			q := from[i]>>shift&15 | high[i]>>part&1<<4
			dst[part*32+i] = float32(scale*float32(q)) - least
		}
	}
}

// unpackQ6K: 16 parts of 16 values, 4 bits and 2 bits apart; a part has an int8 scale.
func unpackQ6K(dst []float32, b []byte) {
	low, high, scales, d := b[:128], b[128:192], b[192:208], half(b[208:])
	for i := range 256 {
		group, in := i/128, i%128
		l := low[group*64+in%64] >> (in / 64 * 4) & 15
		h := high[group*32+in%32] >> (in / 32 * 2) & 3
		scale := d * float32(int8(scales[i/16]))
		dst[i] = scale * float32(int(l|h<<4)-32)
	}
}
