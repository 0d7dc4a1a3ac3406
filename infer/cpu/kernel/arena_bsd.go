//go:build unix && !linux

package kernel

// adviseHuge does nothing: the system decides on its own.
func adviseHuge([]byte) {}
