package gauge

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrAbsent says that no library of a maker of GPUs was found.
var ErrAbsent = errors.New("no management library of GPUs was found")

// A Reading is the state of a GPU at one moment. Values that it does not report are
// zero.
type Reading struct {
	Name                    string
	Load                    float64 // share of the last sampling period in which it computed, 0 to 1
	MemoryUsed, MemoryTotal int64   // bytes
	Power, PowerLimit       float64 // watts
	Temperature             int     // degrees Celsius
}

// maxDevices bounds the number of GPUs.
const maxDevices = 64

// A meter is the library of one maker, started.
type meter interface {
	count() (int, error) // at most maxDevices
	read(index int) (Reading, error)
}

// A Gauge reads the GPUs of one maker. Its methods are safe for concurrent use.
// It stays open until the program ends.
type Gauge struct {
	mu    sync.Mutex
	meter meter
}

// Open finds and starts a library. The error is ErrAbsent if there is none; it is
// another one if the library does not work with the driver.
func Open() (*Gauge, error) {
	if !supported {
		return nil, fmt.Errorf("%w: this is a build without support for GPUs", ErrAbsent)
	}
	var failed error
	for _, l := range libraries {
		m, err := l.open()
		if err == nil {
			return &Gauge{meter: m}, nil
		}
		if !errors.Is(err, ErrAbsent) {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, ErrAbsent
}

// Read is all GPUs as they are now. It takes some milliseconds.
func (g *Gauge) Read() ([]Reading, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, err := g.meter.count()
	if err != nil {
		return nil, err
	}
	list := make([]Reading, 0, n)
	for i := range n {
		r, err := g.meter.read(i)
		if err != nil {
			return nil, fmt.Errorf("GPU %d: %w", i, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// A library is a library of a maker, with the file names that it can have.
type library struct {
	names []string
	start func(lib uintptr) (meter, error)
}

// text is what a C library wrote into a buffer.
func text(buffer []byte) string {
	s, _, _ := strings.Cut(string(buffer), "\x00")
	return strings.ToValidUTF8(s, "?")
}

// share converts a percentage to 0 to 1.
func share(percent uint32) float64 { return float64(min(percent, 100)) / 100 }
