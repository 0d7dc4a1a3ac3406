//go:build !unix

package kernel

// mapRegion takes heap memory, from the first cache line on.
func mapRegion(n int) ([]byte, error) {
	b := make([]byte, n+cacheLine)
	skip := -int(addressOf(b)) & (cacheLine - 1)
	return b[skip : skip+n], nil
}

func unmapRegion([]byte) error { return nil }
