//go:build !linux || !(amd64 || arm64) || nogpu

package native

// Supported says whether this build can open a library.
const Supported = false

// bind is never called here: Open says that there is no support.
func bind(string) (*api, error) { return nil, ErrAbsent }
