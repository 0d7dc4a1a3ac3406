//go:build linux && (amd64 || arm64) && !nogpu

package gauge

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

const supported = true

// libraries are looked for in the system's places, where drivers put them.
var libraries = []library{nvml, rocm}

// open opens the library under the first of its names that exists. It is never closed:
// such libraries can crash when they are.
func (l library) open() (meter, error) {
	for _, name := range l.names {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		m, err := l.start(lib)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return m, nil
	}
	return nil, ErrAbsent
}

// bind finds functions by name. It looks each one up first, because registering a
// missing one panics. Optional functions stay nil.
func bind(lib uintptr, needed, optional map[string]any) error {
	for name, fn := range needed {
		address, err := purego.Dlsym(lib, name)
		if err != nil {
			return errors.New("it has no function " + name)
		}
		purego.RegisterFunc(fn, address)
	}
	for name, fn := range optional {
		if address, err := purego.Dlsym(lib, name); err == nil {
			purego.RegisterFunc(fn, address)
		}
	}
	return nil
}
