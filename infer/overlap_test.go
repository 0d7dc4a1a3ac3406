package infer

import (
	"runtime"
	"testing"
)

func TestOverlapLeavesTheCoresAsTheyAre(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	restore := Overlap()
	inner := Overlap()
	if got := runtime.GOMAXPROCS(0); got != before+spare {
		t.Errorf("%d processors of Go's, and %d before", got, before)
	}
	if Cores() != before {
		t.Errorf("%d cores while threads overlap, %d before", Cores(), before)
	}
	inner()
	if got := runtime.GOMAXPROCS(0); got != before+spare {
		t.Errorf("the inner one took back the outer one: %d processors", got)
	}
	restore()
	if runtime.GOMAXPROCS(0) != before || Cores() != before {
		t.Errorf("%d processors and %d cores afterwards, %d before", runtime.GOMAXPROCS(0), Cores(), before)
	}
}
