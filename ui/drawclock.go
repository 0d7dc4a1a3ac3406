package ui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// The library looks for something to draw drawFPS times a second, whether or not
// anything has happened, which costs an idle program a hundredth of a core. A
// drawClock stops the library's ticker while nothing happens. The ticker is not
// exported; where it is not what it is in the version that go.mod names, it is
// left alone, and all is drawn as before.
type drawClock struct {
	ticker *time.Ticker

	mu    sync.Mutex
	until time.Time // the library looks until then
	rest  *time.Timer
	runs  bool
}

// drawsOn is how long the library looks after something has happened: what the
// last message changed is drawn at its first look, and that of a slow machine
// comes late.
const drawsOn = time.Second

// findTicker is the ticker of a program, or nil. It is called where the program
// has set it: in Update, which runs on the program's own goroutine.
func findTicker(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // of the type that was just checked
}

// wake lets the library look, and stops it when nothing has happened for a while.
func (c *drawClock) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Now().Add(drawsOn)
	if c.runs {
		return // rest looks at until
	}
	c.runs = true
	c.ticker.Reset(time.Second / drawFPS)
	if c.rest == nil {
		c.rest = time.AfterFunc(drawsOn, c.stop)
	} else {
		c.rest.Reset(drawsOn)
	}
}

// stop stops the ticker, unless something has happened since.
func (c *drawClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := time.Until(c.until); wait > 0 {
		c.rest.Reset(wait)
		return
	}
	c.ticker.Stop()
	c.runs = false
}

// drawing is what Update calls so that its changes are drawn by a program.
func drawing(p *tea.Program) func() {
	var clock *drawClock
	return func() {
		if clock == nil {
			ticker := findTicker(p)
			if ticker == nil {
				return
			}
			clock = &drawClock{ticker: ticker}
		}
		clock.wake()
	}
}
