package panel

import (
	"math"
	"testing"
	"time"
)

func TestPaceColumns(t *testing.T) {
	m := NewMonitor(testTheme(t))
	m.SetPaces([]Pace{{0, 10, 2 * time.Millisecond}, {10, 15, 4 * time.Millisecond}, {30, 40, 3 * time.Millisecond}})
	got := m.paceColumns(40, 4)
	for i, want := range []float64{2, 4, math.NaN(), 3} {
		if got[i] != want && !(math.IsNaN(want) && math.IsNaN(got[i])) {
			t.Errorf("column %d is %v, want %v", i, got[i], want)
		}
	}
	// More columns than tokens, and fewer than parts.
	if got := m.paceColumns(40, 160); got[0] != 2 || got[159] != 3 || !math.IsNaN(got[100]) {
		t.Errorf("%v", got)
	}
	if got := m.paceColumns(40, 1); math.Abs(got[0]-(20+20+30)/25.0) > 1e-9 {
		t.Errorf("one column is %v", got)
	}
	m.SetPaces(nil)
	if lines := m.paceLines(40, 4); lines != nil {
		t.Errorf("nothing is drawn as %q", lines)
	}
}
