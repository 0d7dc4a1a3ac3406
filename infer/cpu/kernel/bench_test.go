package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// benchBytes is how much weight memory a benchmark walks through: more than a
// core's share of any cache.
const benchBytes = 192 << 20

// BenchmarkProduct reports, for weights that come from memory, the rate of
// reading them and the rate of multiply-adds. Compare with BenchmarkRead.
func BenchmarkProduct(b *testing.B) {
	const rows, cols = 3072, 768
	for _, threads := range []int{1, 2} {
		for _, typ := range allTypes {
			for _, n := range []int{1, 2, 4, 8, 16, 512} {
				for _, path := range Available() {
					b.Run(fmt.Sprintf("%v/n%d/t%d/%v", typ, n, threads, path), func(b *testing.B) {
						benchProduct(b, path, threads, typ, rows, cols, n)
					})
				}
			}
		}
	}
}

func benchProduct(b *testing.B, path Path, threads int, typ Type, rows, cols, n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := testArena(b)
	list := []*Matrix{randomMatrix(b, a, rng, typ, rows, cols, 0.05)}
	for total := list[0].Bytes(); n < 64 && total < benchBytes; total += list[0].Bytes() {
		m, err := NewMatrix(a, typ, rows, cols)
		if err != nil {
			b.Fatal(err)
		}
		copy(m.data, list[0].data)
		list = append(list, m)
	}
	x, y := randomBatch(b, a, rng, n, cols, 1), newBatch(b, a, n, rows)
	for i := range n {
		path.Quantise(x, i, 0, cols)
	}
	pool := NewPool(path, threads)
	defer pool.Close()
	i := 0
	b.ResetTimer()
	best := math.Inf(1) // the fastest: what others do on the machine is not of interest
	for b.Loop() {
		start := time.Now()
		pool.Multiply(Product{W: list[i%len(list)], X: x, Y: y})
		best = min(best, time.Since(start).Seconds())
		i++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(list[0].Bytes())/best/1e9, "GB/s")
	b.ReportMetric(float64(rows*cols*n)/best/1e9, "GMAC/s")
}

// BenchmarkTimeMix takes tokens of one sequence through the 12 heads of a
// layer of the 0.1B shape.
func BenchmarkTimeMix(b *testing.B) {
	const heads = 12
	for _, rows := range []int{1, 512} {
		for _, path := range Available() {
			b.Run(fmt.Sprintf("n%d/%v", rows, path), func(b *testing.B) {
				c := newMixCase(b, 1, rows, heads, 64, false)
				best := math.Inf(1)
				for b.Loop() {
					start := time.Now()
					for h := range heads {
						path.RunHead(&c.TimeMix, h, 0, rows, c.states[h*64*64:(h+1)*64*64])
					}
					best = min(best, time.Since(start).Seconds())
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(best/heads/float64(rows)*1e9, "ns/head/token")
			})
		}
	}
}

// BenchmarkRead is the limit of a product with one row.
func BenchmarkRead(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, path := range Available() {
			b.Run(fmt.Sprintf("t%d/%v", threads, path), func(b *testing.B) {
				var best float64
				for b.Loop() {
					rate, err := ReadBandwidth(path, threads, benchBytes)
					if err != nil {
						b.Fatal(err)
					}
					best = max(best, rate)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(best/1e9, "GB/s")
			})
		}
	}
}

// BenchmarkRegionsBesideLoops times 200 regions, about those of a step of a
// small model, alone and beside as many endless loops as there are cores: what
// a pool loses beyond its fair share, a half, shows as ns/op.
func BenchmarkRegionsBesideLoops(b *testing.B) {
	const regions, chunks = 200, 8
	cores := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2*cores + 2))
	sums := make([]float64, chunks*cacheLine)
	body := func(i int) {
		for k := range 2000 { // a microsecond or two
			sums[i*cacheLine] += float64(k)
		}
	}
	for _, threads := range []int{1, cores} {
		for _, loops := range []int{0, cores} {
			b.Run(fmt.Sprintf("t%d/loops%d", threads, loops), func(b *testing.B) {
				p := NewPool(Best(), threads)
				defer p.Close()
				defer spin(loops)()
				for b.Loop() {
					for range regions {
						p.Run(chunks, body)
					}
				}
			})
		}
	}
}

// spin keeps n cores busy until it is told to stop.
func spin(n int) (stop func()) {
	var stopped atomic.Bool
	var loops sync.WaitGroup
	for range n {
		loops.Go(func() {
			for !stopped.Load() {
			}
		})
	}
	return func() {
		stopped.Store(true)
		loops.Wait()
	}
}
