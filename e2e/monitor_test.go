package e2e

import "testing"

// The monitor beside an answer and over a narrow screen, with all its sections.
func TestMonitorPanel(t *testing.T) {
	home := t.TempDir()
	configureEndlessAnswers(t, home) // a short answer may fall between two looks of the monitor
	x := open(t, 180, 60, home, "--seed", "1")
	x.see(composerHint)
	x.keys("F4")
	x.see("Monitor", "decode", "prefill", "rows", "memory", "weights", "in memory", "on disk", "slots")
	x.typed("Tell me a story.")
	x.keys("Enter")
	x.see("ms a token by position", "tabs")
	x.keys("Escape")
	x.ended(1)
	x.see("resident", "snapshots", "step", "p50")
	x.resize(80, 24)
	x.see("Monitor", "decode", "prefill")
	x.keys("M-o")
	x.keys("End")
	x.see("since the start", "generated", "on disk")
	x.keys("Home")
	x.see("decode")
	x.resize(44, 16)
	x.see("decode")
	x.keys("q")
	x.gone("Monitor")
	x.keys("C-q")
	x.see("exit:0")
}
