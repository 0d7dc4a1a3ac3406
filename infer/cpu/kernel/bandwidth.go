package kernel

import (
	"fmt"
	"time"
)

// ReadBandwidth measures how many bytes a second the threads of a pool can
// read together from size bytes of memory, over and over: the limit of
// decoding with so many bytes of weights, which the processor's caches raise
// for small models. size is rounded and kept between 1 MB and 1 GB. It takes
// about a third of a second; the fastest round counts.
func ReadBandwidth(path Path, threads int, size int64) (bytesPerSecond float64, err error) {
	const unit, parts = 512, 64
	part := int(min(max(size, 1<<20), 1<<30)) / parts / unit * unit
	arena := NewArena()
	defer func() {
		if e := arena.Close(); e != nil && err == nil {
			err = fmt.Errorf("measure read bandwidth: %w", e)
		}
	}()
	buf, err := arena.Alloc(part * parts)
	if err != nil {
		return 0, fmt.Errorf("measure read bandwidth: %w", err)
	}
	pool := NewPool(path, threads)
	defer pool.Close()
	pool.Run(parts, func(i int) { // touch the pages
		for at := i * part; at < (i+1)*part; at += cacheLine {
			buf[at] = 1
		}
	})
	read := func(i int) { tables[path].read(buf[i*part : (i+1)*part]) }
	for begin, round := time.Now(), 0; round < 4 || time.Since(begin) < 300*time.Millisecond; round++ {
		start := time.Now()
		pool.Run(parts, read)
		bytesPerSecond = max(bytesPerSecond, float64(part*parts)/time.Since(start).Seconds())
	}
	return bytesPerSecond, nil
}
