package ui

import (
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"
)

// wakeEvery is how soon a program comes back that the system has not stopped: a
// process whose group no shell looks after is not.
const wakeEvery = 500 * time.Millisecond

// suspend goes back to the shell. Where there is none, the library would wait
// for ever to be woken: the program then refuses, or wakes itself.
func (m *Model) suspend(string) tea.Cmd {
	if !m.jobControl() {
		return m.fail(errors.New("there is no shell with job control to go back to: nothing was suspended"))
	}
	m.resumed = make(chan struct{})
	go keepAwake(m.resumed, m.ctx.Done()) // it is stopped with the rest, or nothing is
	return tea.Suspend
}

// keepAwake wakes the program until it has resumed.
func keepAwake(resumed, quit <-chan struct{}) {
	for {
		select {
		case <-resumed:
			return
		case <-quit:
			return
		case <-time.After(wakeEvery):
			wake()
		}
	}
}

// noteResumed is after the program has come back.
func (m *Model) noteResumed() {
	if m.resumed != nil {
		close(m.resumed)
		m.resumed = nil
	}
}
