package ui

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A clocked is a program that notes whether its ticker runs.
type clocked struct {
	draw  func()
	found chan *time.Ticker
	p     *tea.Program
}

func (c *clocked) Init() tea.Cmd { return nil }

func (c *clocked) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tickMsg); ok {
		c.draw()
		c.found <- findTicker(c.p)
	}
	return c, nil
}

func (c *clocked) View() tea.View { return tea.NewView("x") }

// The pinned version of the library has the ticker that is stopped.
func TestTheLibrarysTickerRests(t *testing.T) {
	c := &clocked{found: make(chan *time.Ticker, 9)}
	c.p = tea.NewProgram(c, tea.WithInput(strings.NewReader("")), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(), tea.WithFPS(drawFPS))
	c.draw = drawing(c.p)
	ended := make(chan error, 1)
	go func() {
		_, err := c.p.Run()
		ended <- err
	}()
	c.p.Send(tickMsg{})
	ticker := <-c.found
	if ticker == nil {
		t.Fatal("the library's ticker is not found: an idle program draws 90 times a second")
	}
	c.p.Quit()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	// The clock of any ticker: it runs for a while after each wake, and then rests.
	clock := &drawClock{ticker: time.NewTicker(time.Hour)}
	ticks := func(d time.Duration) (n int) {
		end := time.After(d)
		for {
			select {
			case <-clock.ticker.C:
				n++
			case <-end:
				return n
			}
		}
	}
	clock.wake()
	if n := ticks(drawsOn / 2); n == 0 {
		t.Error("it does not run after a wake")
	}
	ticks(drawsOn)
	if n := ticks(drawsOn / 2); n != 0 {
		t.Errorf("%d ticks while nothing happens", n)
	}
	clock.wake()
	if n := ticks(drawsOn / 2); n == 0 {
		t.Error("it does not run again")
	}
}
