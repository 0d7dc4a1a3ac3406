package kernel

import "testing"

func TestReadBandwidth(t *testing.T) {
	for _, path := range Available() {
		rate, err := ReadBandwidth(path, 2, 3<<20)
		if err != nil {
			t.Fatal(err)
		}
		if rate < 1e8 || rate > 1e13 {
			t.Errorf("%v: %g bytes a second cannot be", path, rate)
		}
	}
}
