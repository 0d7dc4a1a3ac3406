//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Supported says whether this build can open a library.
const Supported = true

// bind opens a shared library and finds its functions. The library stays open
// until the program ends: those of device makers do not bear being closed.
func bind(path string) (*api, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("it cannot be opened: %w", err)
	}
	a := new(api)
	if err := find(lib, symbol{"rk_abi_version", &a.version}); err != nil {
		return nil, err
	}
	if v := a.version(); v != abiVersion {
		return nil, &VersionError{Library: int(v), Program: abiVersion}
	}
	for _, s := range a.symbols() {
		if err := find(lib, s); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// find looks a symbol up before it is registered: registering one that is not
// there panics.
func find(lib uintptr, s symbol) error {
	address, err := purego.Dlsym(lib, s.name)
	if err != nil {
		return fmt.Errorf("it has no function %s; build it from the sources of this program with make cuda", s.name)
	}
	purego.RegisterFunc(s.fn, address)
	return nil
}
