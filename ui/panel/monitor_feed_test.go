package panel_test

import (
	"testing"
	"time"

	"rookery/infer/gauge"
	"rookery/ui"
	"rookery/ui/uitest"
)

func TestSurroundingsWhileTheMonitorIsOpen(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		reads := 0
		p := open(t, 140, 60, func(_ *uitest.Options, o *ui.Options) {
			o.Surroundings = func() ui.Surroundings {
				reads++
				return ui.Surroundings{Disk: 7 << 20, GPUs: []gauge.Reading{{Name: "Fake GPU", Load: 0.5, Power: float64(100 * reads)}}}
			}
		})
		p.Pass(3 * time.Second)
		if reads != 0 {
			t.Error("a closed monitor reads")
		}
		p.Press("f4")
		p.Sees("Fake GPU", "100 W", "on disk")
		if reads != 1 {
			t.Errorf("%d reads in one moment", reads)
		}
		p.Pass(1500 * time.Millisecond)
		p.Sees("200 W")
		p.Press("f4")
		p.Pass(3 * time.Second)
		if reads != 2 {
			t.Errorf("%d reads; a closed monitor reads", reads)
		}
	})
}

// What was answered while the monitor was closed is in it.
func TestTheMonitorRemembers(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 60, func(w *uitest.Options, _ *ui.Options) { w.Step = 50 * time.Millisecond })
		p.Enter("Once more")
		p.Pass(5 * time.Second)
		p.Press("f4")
		p.Sees("ms a token by position", "50 ms")
	})
}
