package kernel

import (
	"fmt"
	"time"
)

// ReadBandwidth measures how many bytes a second the threads of a pool can
// read from memory together: the limit of decoding. It takes about half a
// second and 512 MB.
func ReadBandwidth(path Path, threads int) (bytesPerSecond float64, err error) {
	const size, parts, rounds = 512 << 20, 64, 4
	arena := NewArena()
	buf, err := arena.Alloc(size)
	if err != nil {
		return 0, fmt.Errorf("measure read bandwidth: %w", err)
	}
	defer func() {
		if e := arena.Close(); e != nil && err == nil {
			err = e
		}
	}()
	pool := NewPool(path, threads)
	defer pool.Close()
	part := func(i int) []byte { return buf[i*(size/parts) : (i+1)*(size/parts)] }
	pool.Run(parts, func(i int) { // touch the pages
		b := part(i)
		for j := 0; j < len(b); j += 64 {
			b[j] = 1
		}
	})
	read := func(i int) { tables[path].read(part(i)) }
	for range rounds {
		start := time.Now()
		pool.Run(parts, read)
		bytesPerSecond = max(bytesPerSecond, size/time.Since(start).Seconds())
	}
	return bytesPerSecond, nil
}
