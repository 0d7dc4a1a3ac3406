package native

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// ErrAbsent is what Open returns, wrapped, where nobody should expect a GPU to
// be used: in a build without support for it, and where no library was found.
var ErrAbsent = errors.New("no GPU library")

// A VersionError says that a library has another interface than the program.
type VersionError struct {
	Library, Program int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("it has version %d of the interface and this program needs %d; build both from the same sources, with make cuda", e.Library, e.Program)
}

// An Error is a failure of the library, with its reason in one line.
type Error struct {
	Doing  string
	Reason string
	Memory bool // the memory did not suffice
}

func (e *Error) Error() string { return e.Doing + ": " + e.Reason }

// A LostError says that the device failed. Its backend is of no use any more.
type LostError struct {
	Device string
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the GPU %s was lost: %s; conversations are safe: start rookery again, with --backend cpu if it stays so", e.Device, e.Reason)
}

// maxReason bounds a message of the library.
const maxReason = 1024

// reason is the library's message of its last failure, as one line.
func (a *api) reason() string {
	buf := make([]byte, maxReason)
	n := int(a.lastError(unsafe.SliceData(buf), maxReason))
	text := strings.Join(strings.Fields(string(buf[:min(max(n, 0), maxReason-1)])), " ")
	if text == "" {
		return "the library gives no reason"
	}
	return text
}

// check makes an error of a status that is not OK.
func (a *api) check(s status, doing string) error {
	if s == statusOK {
		return nil
	}
	return &Error{Doing: doing, Reason: a.reason(), Memory: s == statusMemory}
}

// check makes an error of a status, and remembers a device that was lost.
func (b *Backend) check(s status, doing string) error {
	if s == statusDevice && b.lost.Load() == nil {
		b.lost.CompareAndSwap(nil, &LostError{Device: b.device.Name, Reason: b.api.reason()})
	}
	if lost := b.lost.Load(); lost != nil && s != statusOK {
		return lost
	}
	return b.api.check(s, doing)
}
