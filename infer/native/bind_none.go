//go:build !linux || !(amd64 || arm64) || nogpu

package native

// supported says whether this build can open a library.
const supported = false

// bind is never called here: Open says that there is no support.
func bind(string) (*api, error) { return nil, ErrAbsent }
