package sampler

import "testing"

// The vectors are from the kat_vectors file of Random123, the authors' library.
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{
			[4]uint32{},
			[2]uint32{},
			[4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
		},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			[2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(c.ctr, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.ctr, c.key, got, c.want)
		}
	}
}

func TestRandomIsTheStatedPartOfPhilox(t *testing.T) {
	if got := Random(0, 0); got != 0xe169c58d6627e8d5 {
		t.Errorf("word 0 of seed 0 is %#x", got)
	}
	const seed, n = 0x299f31d0a4093822, 0x85a308d3243f6a88
	out := philox([4]uint32{0x243f6a88, 0x85a308d3, 0, 0}, [2]uint32{0xa4093822, 0x299f31d0})
	if got, want := Random(seed, n), uint64(out[1])<<32|uint64(out[0]); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
