package native

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// A tensor is one that the device is to have.
type tensor struct {
	name  string
	dims  []int
	dtype int32 // the library's
	// stored copies bytes of the values, where the file has them in that type; else it
	// is nil. The library gets a copy, because a fault in it would end the program.
	stored func(dst []byte, off int64) error
	// read converts values off and following to dst, where stored is nil.
	read     func(dst []float32, off int) error
	prefetch func() // may be nil
}

// len is the number of values.
func (t *tensor) len() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return n
}

// fileTensors are the tensors that a model needs, in the file's order, so that
// it is read from beginning to end.
func fileTensors(f *checkpoint.File, s rwkv.Shape) ([]tensor, error) {
	needed := map[string]bool{}
	for name, spec := range s.Tensors() {
		if _, ok := f.Tensor(name); !ok && spec.Log != "" {
			name = spec.LogName(name)
		}
		needed[name] = true
	}
	var out []tensor
	for _, name := range f.Names() {
		t, ok := f.Tensor(name)
		if ok && needed[name] {
			out = append(out, fileTensor(t))
			delete(needed, name)
		}
	}
	for name := range needed {
		return nil, fmt.Errorf("%s: tensor %s: missing", f.Path(), name)
	}
	return out, nil
}

var fileTypes = map[checkpoint.DType]int32{checkpoint.F32: typeF32, checkpoint.F16: typeF16, checkpoint.BF16: typeBF16}

// fileTensor is sent as it lies in the file where the device understands that.
// Packed types are sent as fp16, anything else as fp32.
func fileTensor(t *checkpoint.Tensor) tensor {
	out := tensor{name: t.Name, dims: t.Shape, dtype: typeF32, read: t.Float32, prefetch: t.Prefetch}
	if dtype, ok := fileTypes[t.DType]; ok {
		if t.Plain() {
			out.dtype, out.stored = dtype, t.ReadStored
		}
	}
	if t.DType.Packed() {
		out.dtype = typeF16
	}
	return out
}

// generatedTensors are those of a shape. Matrices are sent as fp16.
func generatedTensors(s rwkv.Shape, values func(name string, dst []float32, off int) error) []tensor {
	var out []tensor
	for name, spec := range s.Tensors() {
		t := tensor{name: name, dims: spec.Sizes(s), dtype: typeF32}
		t.read = func(dst []float32, off int) error {
			if err := values(name, dst, off); err != nil {
				return fmt.Errorf("tensor %s: %w", name, err)
			}
			return nil
		}
		if spec.Kind != rwkv.Vector {
			t.dtype = typeF16
		}
		out = append(out, t)
	}
	return out
}

// pieceLen is how many values a goroutine converts at a time.
const pieceLen = 1 << 16

// A stager copies and converts tensors on all processors, into a buffer that is as
// large as the largest of them and used for all.
type stager struct {
	bytes  []byte
	floats []float32
	halves []uint16
}

// stage returns the values of a tensor and their type. They are valid until the next
// call.
func (s *stager) stage(t *tensor) ([]byte, int32, error) {
	n := t.len()
	if t.stored != nil {
		s.bytes = grown(s.bytes, n*typeSizes[t.dtype])
		err := inPieces(len(s.bytes), func() func(lo, hi int) error {
			return func(lo, hi int) error { return t.stored(s.bytes[lo:hi], int64(lo)) }
		})
		return s.bytes, t.dtype, err
	}
	if t.dtype != typeF16 {
		s.floats = grown(s.floats, n)
		err := inPieces(n, func() func(lo, hi int) error {
			return func(lo, hi int) error { return t.read(s.floats[lo:hi], lo) }
		})
		return bytesOf(s.floats), typeF32, err
	}
	s.halves = grown(s.halves, n)
	err := inPieces(n, func() func(lo, hi int) error {
		buf := make([]float32, min(n, pieceLen))
		return func(lo, hi int) error {
			if err := t.read(buf[:hi-lo], lo); err != nil {
				return err
			}
			checkpoint.Halves(s.halves[lo:hi], buf[:hi-lo])
			return nil
		}
	})
	return bytesOf(s.halves), typeF16, err
}

// grown is a slice of n values, in v's memory where that is enough.
func grown[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

func bytesOf[T float32 | uint16](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// inPieces calls the functions that worker makes, one for each processor, for
// pieces of 0 to n, and returns their first error.
func inPieces(n int, worker func() func(lo, hi int) error) error {
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		once   sync.Once
		failed atomic.Bool
		first  error
	)
	pieces := (n + pieceLen - 1) / pieceLen
	for range min(pieces, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			do := worker()
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= pieces {
					return
				}
				if err := do(i*pieceLen, min((i+1)*pieceLen, n)); err != nil {
					once.Do(func() { first = err })
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return first
}

// aheadTensors is how many tensors are read before they are needed.
const aheadTensors = 4

// A prefetch reads tensors from the disk while others are copied.
type prefetch struct {
	ahead chan struct{}
	quit  chan struct{}
	wg    sync.WaitGroup
}

func startPrefetch(tensors []tensor) *prefetch {
	p := &prefetch{ahead: make(chan struct{}, aheadTensors), quit: make(chan struct{})}
	p.wg.Go(func() {
		for _, t := range tensors {
			select {
			case p.ahead <- struct{}{}:
			case <-p.quit:
				return
			}
			if t.prefetch != nil {
				t.prefetch()
			}
		}
	})
	return p
}

// passed is called after each tensor.
func (p *prefetch) passed() { <-p.ahead }

// stop ends it. No tensor is touched afterwards.
func (p *prefetch) stop() {
	close(p.quit)
	p.wg.Wait()
}
