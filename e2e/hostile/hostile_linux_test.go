package hostile

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestHostile runs all trials and prints a table.
func TestHostile(t *testing.T) {
	bin := os.Getenv("ROOKERY_HOSTILE")
	if bin == "" {
		t.Skip("skipped: ROOKERY_HOSTILE does not name the built program; run `make hostile`")
	}
	start := time.Now()
	x := &maker{t: t, bin: bin, dir: t.TempDir()}
	trials := slices.Concat(x.kinds(), x.nested(), x.weights(), x.bundles(), x.databases(), x.shrinking(), x.damaged())
	if only := os.Getenv("ROOKERY_HOSTILE_ONLY"); only != "" {
		trials = matching(trials, only)
	}
	outcomes := make([]outcome, len(trials))
	next := make(chan int)
	var workers sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		home := fmt.Sprintf("%s/home%d", x.dir, w)
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		workers.Go(func() {
			for i := range next {
				outcomes[i] = trials[i].run(bin, home)
			}
		})
	}
	for i := range trials {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, o := range outcomes {
		if len(o.problems) > 0 {
			t.Errorf("%s, %s: %s\n  rookery %.300s\n  %.400s", o.family, o.name, strings.Join(o.problems, "; "), strings.Join(o.args, " "), o.stderr)
		}
	}
	t.Logf("%d runs in %.0f s\n\n%s", len(outcomes), time.Since(start).Seconds(), table(outcomes))
}

// matching keeps the trials whose family or name has a text.
func matching(trials []trial, text string) []trial {
	var out []trial
	for _, t := range trials {
		if strings.Contains(t.family+" "+t.name, text) {
			out = append(out, t)
		}
	}
	return out
}
