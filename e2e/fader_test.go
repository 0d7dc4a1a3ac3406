package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The fader of an adapter beside an answer that does not end, with thirty keys a second
// for five seconds and with ten at once: it ends where the last key left it, on the
// screen and in what is stored.
func TestFader(t *testing.T) {
	home := t.TempDir()
	configureEndlessAnswers(t, home)
	x := open(t, 80, 24, home, "--seed", "1")
	x.see(composerHint)
	x.typed("Tell me a story.")
	x.keys("Enter")
	x.see("tok/s")
	x.keys("F10")
	x.see("Adapters", "* none", "demo-pirate")
	x.keys("Down", "Down", "Enter")
	strength := 10
	press := func(key string) {
		x.keys(key)
		if strength++; key == "Left" {
			strength -= 2
		}
		strength = min(max(strength, 0), 20)
	}
	for i, began := 0, time.Now(); i < 150; i++ {
		press([]string{"Left", "Left", "Right", "Left", "Right", "Right", "Right"}[i%7])
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / 30)))
	}
	if strength == 10 {
		press("Left")
	}
	x.see(fmt.Sprintf("demo-pirate × %.3g, from the next token on", float64(strength)/10), fmt.Sprintf("%.2f", float64(strength)/10))
	for range 20 {
		press("Left")
	}
	x.see("no adapter, from the next token on", "0.00")
	time.Sleep(time.Second) // loads that ran end
	x.see("* demo-pirate", "0.00")
	x.keys("F10")
	x.gone("Adapters")
	x.gone("adapter demo-pirate")
	last := x.quit()[0].tip()
	if last.Adapter != "" {
		t.Errorf("the answer ran with %q when it was stopped", last.Adapter)
	}
}
