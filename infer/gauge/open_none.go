//go:build !linux || !(amd64 || arm64) || nogpu

package gauge

const supported = false

var libraries []library

// open is never called here: Open says that there is no support.
func (library) open() (meter, error) { return nil, ErrAbsent }
