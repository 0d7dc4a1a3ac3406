package plain

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"rookery/ui/uitest"
)

// ctrl+c stops the answer, then drops the draft, then asks to leave, and leaves.
func TestInterruptInStages(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{Babble: true, Step: time.Second}), Options{})
		lines, interrupts := make(chan string), make(chan os.Signal)
		left := make(chan error, 1)
		go func() { left <- k.loop(lines, interrupts) }()
		interrupt := func(what string) {
			t.Helper()
			interrupts <- os.Interrupt
			time.Sleep(2 * time.Second)
			synctest.Wait()
			select {
			case err := <-left:
				t.Fatalf("%s: left (%v)", what, err)
			default:
			}
		}
		lines <- "hello"
		time.Sleep(5 * time.Second)
		synctest.Wait()
		interrupt("while an answer runs")
		if k.d.View().Live != nil {
			t.Error("the answer goes on")
		}
		lines <- `half a prompt\`
		interrupt("while something is written")
		k.hears("What was written is dropped.")
		interrupt("asked once")
		k.hears("Press ctrl+c again to leave.")
		time.Sleep(10 * time.Second)
		interrupt("asked once, a while ago")
		interrupts <- os.Interrupt
		uitest.Must(t, <-left)
	})
}
