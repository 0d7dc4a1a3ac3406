//go:build !linux

package kernel

import "runtime"

// osYield lets another goroutine have the processor.
func osYield() { runtime.Gosched() }
