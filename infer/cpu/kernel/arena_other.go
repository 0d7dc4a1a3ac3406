//go:build !unix

package kernel

import "unsafe"

// mapRegion takes heap memory, from the first cache line on.
func mapRegion(n int) ([]byte, error) {
	b := make([]byte, n+cacheLine)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (cacheLine - 1)
	return b[skip : skip+n], nil
}

func unmapRegion([]byte) error { return nil }
