package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryChunkRunsOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(Go, threads)
		for _, n := range []int{0, 1, 2, 3, 17, 1000} {
			for range 20 {
				ran := make([]atomic.Int32, n)
				p.Run(n, func(i int) { ran[i].Add(1) })
				for i := range ran {
					if c := ran[i].Load(); c != 1 {
						t.Fatalf("%d threads, %d chunks: chunk %d ran %d times", threads, n, i, c)
					}
				}
			}
		}
		p.Close()
	}
}

func TestParkedHelpersWake(t *testing.T) {
	p := NewPool(Go, 3)
	defer p.Close()
	for range 3 {
		waitFor(t, "helpers to park", func() bool { return p.parked.Load() == 2 })
		// every chunk waits for the others: this ends only if all threads come
		var here atomic.Int32
		p.crowd = crowd{}
		p.Run(3, func(int) {
			here.Add(1)
			for here.Load() < 3 {
				runtime.Gosched()
			}
		})
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestPanicInAChunkReachesTheCaller(t *testing.T) {
	for _, threads := range []int{1, 3} {
		p := NewPool(Go, threads)
		var ran atomic.Int32
		got := func() (r any) {
			defer func() { r = recover() }()
			p.Run(50, func(i int) {
				ran.Add(1)
				if i == 7 {
					panic("chunk seven")
				}
			})
			return nil
		}()
		if !strings.Contains(fmt.Sprint(got), "chunk seven") {
			t.Errorf("%d threads: recovered %v", threads, got)
		}
		ran.Store(0)
		p.Run(50, func(int) { ran.Add(1) })
		if ran.Load() != 50 {
			t.Errorf("%d threads: %d of 50 chunks after a panic", threads, ran.Load())
		}
		p.Close()
	}
}

func TestStalledHelpersAreLeftOut(t *testing.T) {
	p := NewPool(Go, 2)
	defer p.Close()
	// the chunk that the helper gets takes far longer than the caller's
	var caller, helper atomic.Int32
	me := make(chan struct{})
	p.parallel(2, func(worker, _ int) {
		if worker != 0 {
			close(me)
			time.Sleep(20 * time.Millisecond)
			return
		}
		<-me // until the helper has the other chunk
	})
	if !p.crowd.alone(time.Since(p.born)) {
		t.Fatal("the helper is not left out after a stall")
	}
	// regions that follow are the caller's alone
	for p.crowd.alone(time.Since(p.born)) {
		p.parallel(4, func(worker, _ int) {
			if worker == 0 {
				caller.Add(1)
			} else {
				helper.Add(1)
			}
		})
	}
	if caller.Load() < 4*100 || helper.Load() > 4 { // the last region may be after the pause
		t.Errorf("after a stall the caller ran %d chunks and the helper %d", caller.Load(), helper.Load())
	}
}

func TestPausesGrowWhileStallsFollowStalls(t *testing.T) {
	var c crowd
	const late = 2 * time.Millisecond
	c.stalled(late, late)
	if first := c.until - late; first != pauseShare*late {
		t.Errorf("the first pause is %v", first)
	}
	now := c.until
	if !c.alone(now-1) || c.alone(now) {
		t.Error("a pause does not end when it should")
	}
	for range 20 { // each try stalls at once
		now = c.until + late
		c.stalled(now, late)
	}
	if grown := c.until - now; grown != mostPause {
		t.Errorf("after many stalls the pause is %v", grown)
	}
	now = c.until + mostPause // it went well for as long as it was left out
	c.stalled(now, late)
	if again := c.until - now; again != pauseShare*late {
		t.Errorf("a stall after a good time is followed by a pause of %v", again)
	}
}

func TestMultiplyAndRunAllocateNothing(t *testing.T) {
	a := testArena(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, path := range Available() {
		m := randomMatrix(t, a, rng, Q8, 96, 64, 1)
		x, y, z := randomBatch(t, a, rng, 3, 64, 1), newBatch(t, a, 3, 96), newBatch(t, a, 3, 96)
		c := newMixCase(t, 1, 2, 1, 64, false)
		state := make([]float32, StateLen(64))
		p := NewPool(path, 2)
		body := func(int) {
			path.Quantise(x, 0, 0, 64)
			path.RunHead(&c.TimeMix, 0, 0, 2, state)
		}
		allocs := testing.AllocsPerRun(50, func() {
			p.Run(1, body)
			p.Multiply(Product{W: m, X: x, Y: y}, Product{W: m, X: x, Y: z})
		})
		p.Close()
		if allocs != 0 {
			t.Errorf("%v: %g allocations", path, allocs)
		}
	}
}

func TestThenSeesFinishedOutputs(t *testing.T) {
	const rows, n = 203, 5
	rng := rand.New(rand.NewPCG(2, 2))
	for _, path := range Available() {
		a := testArena(t)
		m, x := randomMatrix(t, a, rng, F32, rows, 64, 1), randomBatch(t, a, rng, n, 64, 1)
		y, want := newBatch(t, a, n, rows), newBatch(t, a, n, rows)
		p := NewPool(path, 3)
		p.Multiply(Product{W: m, X: x, Y: want})
		var covered atomic.Int32
		p.Multiply(Product{W: m, X: x, Y: y, Then: func(lo, hi int) {
			covered.Add(int32(hi - lo))
			for i := range n {
				path.Add(y.Row(i)[lo:hi], y.Row(i)[lo:hi])
			}
		}})
		p.Close()
		if covered.Load() != rows {
			t.Errorf("%v: Then covered %d of %d outputs", path, covered.Load(), rows)
		}
		for i := range n {
			for r, v := range y.Row(i) {
				if v != 2*want.Row(i)[r] {
					t.Fatalf("%v: row %d output %d: %g, want %g", path, i, r, v, 2*want.Row(i)[r])
				}
			}
		}
	}
}
