package checkpoint

import (
	"runtime/debug"
	"unsafe"
)

// guard calls read, which may touch the bytes of slice, and turns a fault there into
// an error: another program has shortened the mapped file, or its disk fails. A fault
// in a goroutine that read starts, or in a library, ends the program; so each goroutine
// has its own guard, and libraries get copies.
func (m *image) guard(read func() error) (err error) {
	if m.unmap == nil {
		return read()
	}
	data := m.data
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		fault, ok := p.(interface{ Addr() uintptr })
		if !ok || !contains(data, fault.Addr()) {
			panic(p) // a defect of ours
		}
		err = &FormatError{
			Path: m.path, Problem: "the file has become shorter, or its disk cannot be read",
			Remedy: "open it again when no other program writes to it",
		}
	}()
	return read()
}

// contains says whether an address lies in the pages of data.
func contains(data []byte, addr uintptr) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return addr >= first && addr-first < uintptr(len(data))
}
