package uitest

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// A Terminal runs a program without one: it sends keys to a model, carries its
// commands out and shows what is on the screen. It belongs to the goroutine of
// the test.
type Terminal struct {
	t             testing.TB
	model         tea.Model
	msgs          chan tea.Msg
	width, height int
}

// Open shows a model on a screen of some size. It is called in a bubble of
// Run, which waits until the program has begun.
func Open(t testing.TB, m tea.Model, width, height int) *Terminal {
	t.Helper()
	term := &Terminal{t: t, model: m, msgs: make(chan tea.Msg, 1000)}
	t.Cleanup(func() { time.Sleep(time.Minute) }) // timers that were set end
	if width > 0 {
		term.Resize(width, height)
	}
	term.start(m.Init())
	term.Settle()
	return term
}

// Model is the program.
func (term *Terminal) Model() tea.Model { return term.model }

// Send gives messages to the program and waits until it has nothing more to do
// now. Timers stay where they are: see Pass.
func (term *Terminal) Send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		term.update(msg)
		term.Settle()
	}
}

// Settle waits until the program, its commands and the engine wait for time to
// pass or for a key.
func (term *Terminal) Settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-term.msgs:
			term.update(msg)
		default:
			return
		}
	}
}

// Pass lets time pass.
func (term *Terminal) Pass(d time.Duration) {
	const step = 5 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(step, time.Until(end)))
		term.Settle()
	}
}

// Await lets time pass until the screen shows a text, a minute at most.
func (term *Terminal) Await(text string) {
	term.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !strings.Contains(term.Screen(), text); {
		term.Pass(5 * time.Millisecond)
	}
	term.Sees(text)
}

func (term *Terminal) update(msg tea.Msg) {
	m, cmd := term.model.Update(msg)
	term.model = m
	term.start(cmd)
}

// start carries a command out on a goroutine of its own.
func (term *Terminal) start(cmd tea.Cmd) {
	if cmd != nil {
		go term.run(cmd)
	}
}

// run carries a command out and passes on what it brings.
func (term *Terminal) run(cmd tea.Cmd) {
	msg := cmd()
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, c := range msg {
			term.start(c)
		}
		return
	}
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() { // a sequence, whose type is not exported
			if c, ok := v.Index(i).Interface().(tea.Cmd); ok && c != nil {
				term.run(c)
			}
		}
		return
	}
	term.msgs <- msg
}

// Resize gives the screen another size.
func (term *Terminal) Resize(width, height int) {
	term.width, term.height = width, height
	term.Send(tea.WindowSizeMsg{Width: width, Height: height})
}

// Press sends keys by their names: "ctrl+x", "enter", "a". After each the time of
// a frame passes.
func (term *Terminal) Press(names ...string) {
	term.t.Helper()
	for _, name := range names {
		term.Send(Key(term.t, name))
		term.Pass(40 * time.Millisecond)
	}
}

// Type sends a text as a person types it, very quickly: no time passes.
func (term *Terminal) Type(text string) {
	for _, r := range text {
		term.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Enter types a text and presses enter.
func (term *Terminal) Enter(text string) {
	term.t.Helper()
	term.Type(text)
	term.Press("enter")
}

// Screen is what is seen, without styles.
func (term *Terminal) Screen() string { return ansi.Strip(term.model.View().Content) }

// Sees fails unless the screen shows the texts, one after the other.
func (term *Terminal) Sees(texts ...string) {
	term.t.Helper()
	screen, at := term.Screen(), 0
	for _, text := range texts {
		i := strings.Index(screen[at:], text)
		if i < 0 {
			term.t.Errorf("the screen does not show %q:\n%s", text, screen)
			return
		}
		at += i + len(text)
	}
}

// SeesNot fails if the screen shows a text.
func (term *Terminal) SeesNot(text string) {
	term.t.Helper()
	if screen := term.Screen(); strings.Contains(screen, text) {
		term.t.Errorf("the screen shows %q:\n%s", text, screen)
	}
}

// Row is the row of the screen that shows a text.
func (term *Terminal) Row(text string) int {
	term.t.Helper()
	for y, line := range strings.Split(term.Screen(), "\n") {
		if strings.Contains(line, text) {
			return y
		}
	}
	term.t.Fatalf("the screen does not show %q:\n%s", text, term.Screen())
	return 0
}

// Check fails if the screen breaks a promise that holds in every state.
func (term *Terminal) Check() {
	term.t.Helper()
	v := term.model.View()
	if v.Content == "" {
		return
	}
	lines := strings.Split(v.Content, "\n")
	if len(lines) != term.height {
		term.t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), term.height, ansi.Strip(v.Content))
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > term.width {
			term.t.Fatalf("line %d is %d wide on a screen of %d: %q", i, w, term.width, line)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= term.width || c.Y >= term.height) {
		term.t.Fatalf("the cursor is at %d,%d on a screen of %dx%d", c.X, c.Y, term.width, term.height)
	}
}
