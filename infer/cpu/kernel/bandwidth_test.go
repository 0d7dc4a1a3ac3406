package kernel

import "testing"

func TestReadBandwidth(t *testing.T) {
	for _, size := range []int64{0, 3 << 20} {
		rate, err := ReadBandwidth(Best(), 2, size)
		if err != nil {
			t.Fatal(err)
		}
		if rate < 1e8 || rate > 1e13 {
			t.Errorf("%d bytes: %g bytes a second cannot be", size, rate)
		}
	}
}
