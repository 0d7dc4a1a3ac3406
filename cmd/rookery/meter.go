package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"rookery/ui/terminal"

	"golang.org/x/term"
)

// meterDelay is how long work takes before a meter shows it.
const meterDelay = 300 * time.Millisecond

// A meter shows the progress of long work on one line of a terminal. On
// anything but a terminal it shows nothing.
type meter struct {
	w       io.Writer
	started time.Time
	shown   time.Time
}

func newMeter(w io.Writer) *meter {
	if !isTerminal(w) {
		return &meter{}
	}
	return &meter{w: w, started: time.Now()}
}

func isTerminalFile(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// show draws the progress in percent of a total.
func (m *meter) show(what string, done, total int64, unit string) {
	m.draw("%s: %d %% of %d M %s", what, done*100/max(total, 1), total/1e6, unit)
}

// showCount draws the progress in whole numbers.
func (m *meter) showCount(what string, done, total int, unit string) {
	m.draw("%s: %d of %d %s", what, done, total, unit)
}

// draw draws a line, at most ten times a second.
func (m *meter) draw(format string, args ...any) {
	now := time.Now()
	if m.w == nil || now.Sub(m.started) < meterDelay || now.Sub(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = now
	_, _ = fmt.Fprintf(m.w, "\r\x1b[K"+format, args...)
}

// clear removes the line.
func (m *meter) clear() {
	if m.w != nil && !m.shown.IsZero() {
		_, _ = fmt.Fprint(m.w, "\r\x1b[K")
	}
}

// noteTo returns a function that writes lines to w; they stay on the terminal.
func (m *meter) noteTo(w io.Writer) func(line string) {
	return func(line string) {
		m.clear()
		_, _ = fmt.Fprintf(w, "rookery: %s\n", terminal.Line(line, longestError))
	}
}

// bytesText writes a size for people, in powers of ten.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%d B", n)
	}
}
