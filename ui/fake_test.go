package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/uitest"
)

// now is when everything happens in these tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeDesk is a workspace whose dialogues are what a test makes them.
type fakeDesk struct {
	remembered []string
	open       []*fakeDialogue
	active     int
	stored     []turn.Conversation
	stats      infer.Stats
	shut       []turn.ID
	layout     []turn.ID
	at         int
	next       turn.ID
}

func (k *fakeDesk) Changes() <-chan struct{} { return nil }
func (k *fakeDesk) Engine() chat.Engine      { return fakeEngine{k} }
func (k *fakeDesk) AddHistory(prompt string) { k.remembered = append(k.remembered, prompt) }

func (k *fakeDesk) CloseDialogue(d dialogue) { k.shut = append(k.shut, d.ID()) }

func (k *fakeDesk) Restore(context.Context) ([]dialogue, int, error) {
	var all []dialogue
	for _, d := range k.open {
		all = append(all, d)
	}
	return all, k.active, nil
}

func (k *fakeDesk) New() dialogue {
	k.next++
	return newFake(1000+k.next, "")
}

func (k *fakeDesk) Open(id turn.ID) dialogue {
	for _, c := range k.stored {
		if c.ID == id {
			return newFake(id, c.Title)
		}
	}
	return newFake(id, "stored")
}

func (k *fakeDesk) SaveLayout(open []dialogue, active int) {
	k.layout, k.at = nil, active
	for _, d := range open {
		k.layout = append(k.layout, d.ID())
	}
}

type fakeEngine struct{ k *fakeDesk }

func (e fakeEngine) Model() *infer.Model { return &infer.Model{Name: "test-g1-20260312"} }

func (e fakeEngine) Submit(infer.Request) (*infer.Stream, error) { return nil, errors.New("no engine") }
func (e fakeEngine) Stats() infer.Stats                          { return e.k.stats }

// fakeDialogue records what it is asked, and shows what the test put in.
type fakeDialogue struct {
	id    turn.ID
	v     chat.View
	calls []string
	fail  error
}

func newFake(id turn.ID, title string) *fakeDialogue {
	return &fakeDialogue{id: id, v: chat.View{Version: 1, Conversation: turn.Conversation{
		ID: id, Title: title, Updated: now, Think: turn.ThinkOff, Preset: "chat", Sampling: sampler.Params{Temperature: 1, TopP: 0.3, Decay: 0.996},
	}}}
}

func (d *fakeDialogue) did(format string, args ...any) error {
	d.calls = append(d.calls, fmt.Sprintf(format, args...))
	return d.fail
}

func (d *fakeDialogue) ID() turn.ID                { return d.id }
func (d *fakeDialogue) View() chat.View            { return d.v }
func (d *fakeDialogue) Send(text string) error     { return d.did("send %q", text) }
func (d *fakeDialogue) Stop()                      { _ = d.did("stop") }
func (d *fakeDialogue) Continue() error            { return d.did("continue") }
func (d *fakeDialogue) Retry() error               { return d.did("retry") }
func (d *fakeDialogue) EditLast(text string) error { return d.did("edit %q", text) }
func (d *fakeDialogue) ShowTurn(id turn.ID) error  { return d.did("show %d", id) }

func (d *fakeDialogue) SetSystem(text string) error {
	d.v.Conversation.System = text
	d.v.Version++
	return d.did("system %q", text)
}

// say adds a turn.
func (d *fakeDialogue) say(role turn.Role, text string) *turn.Turn {
	id := turn.ID(len(d.v.Turns) + 1)
	t := turn.Turn{ID: id, Role: role, Text: text}
	if role == turn.RoleAssistant {
		t.ModelName, t.Reason = "test-g1-20260312", infer.ReasonStop
		t.Usage = infer.Usage{Generated: 128, DecodeTime: 3 * time.Second}
	}
	d.v.Turns = append(d.v.Turns, t)
	d.v.Siblings = append(d.v.Siblings, chat.Siblings{N: 1, Of: 1})
	d.v.Version++
	return &d.v.Turns[len(d.v.Turns)-1]
}

// generate begins or continues a running answer.
func (d *fakeDialogue) generate(text string, p infer.Progress) {
	d.v.Live = &chat.Live{
		Turn: turn.Turn{ID: turn.ID(len(d.v.Turns) + 1), Role: turn.RoleAssistant, ModelName: "test-g1-20260312"},
		Text: text, Progress: p, Started: now,
	}
	d.v.Version++
}

// end makes a turn of the running answer.
func (d *fakeDialogue) end() {
	text := d.v.Live.Text
	d.v.Live = nil
	d.say(turn.RoleAssistant, text)
}

// A bench drives a model without a terminal.
type bench struct {
	t   testing.TB
	m   *Model
	k   *fakeDesk
	raw []tea.Msg // what a terminal would have got
}

func newBench(t testing.TB, k *fakeDesk, s Settings, width, height int) *bench {
	t.Helper()
	b := &bench{t: t, k: k}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	real := uitest.New(t, uitest.Options{Stored: k.stored}) // for what has left this package
	b.m = newModel(ctx, k, Options{Workspace: real.Workspace, Settings: s, Version: "1.0", DataDir: "/home/you/.local/share/rookery", Clipboard: func(string) error { return nil }, In: strings.NewReader(""), Out: io.Discard})
	b.fakeTree()
	b.m.clock = func() time.Time { return now }
	b.m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	if width > 0 {
		b.send(tea.WindowSizeMsg{Width: width, Height: height})
	}
	b.do(b.m.Init())
	return b
}

// fakeTree lets a fake do what a dialogue does with its tree, as far as a test
// of something else needs it.
func (b *bench) fakeTree() {
	for _, id := range []keys.ID{
		keys.Continue, keys.Retry, keys.Reread, keys.Undo, keys.Redo, keys.PrevSibling, keys.NextSibling, keys.PinTurn, keys.Label, keys.Fork, keys.Tokens,
	} {
		run := b.m.actions[id]
		b.m.actions[id] = func(arg string) tea.Cmd {
			d, fake := b.m.tab().d.(*fakeDialogue)
			switch {
			case !fake:
				return run(arg)
			case id == keys.Continue:
				return tea.Batch(b.m.report("", d.Continue()), b.m.look())
			case id == keys.Retry:
				return tea.Batch(b.m.report("", d.Retry()), b.m.look())
			}
			return b.m.fail(errOpening)
		}
	}
}

// send gives a message to the model and runs what follows from it.
func (b *bench) send(msg tea.Msg) {
	_, cmd := b.m.Update(msg)
	b.do(cmd)
}

// do runs commands one after the other.
func (b *bench) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, c := range msg {
			b.do(c)
		}
		return
	}
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() { // a sequence, whose type is not exported
			b.do(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	if strings.HasPrefix(reflect.TypeOf(msg).PkgPath(), "rookery") {
		b.send(msg)
		return
	}
	b.raw = append(b.raw, msg)
}

// named are keys that are not one character.
var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
	"f1": tea.KeyF1, "escape": tea.KeyEscape, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6, "f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f12": tea.KeyF12,
}

// press sends keys by their names.
func (b *bench) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.send(keyNamed(b.t, name))
	}
}

func keyNamed(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	k := tea.KeyPressMsg{}
	rest := name
	for {
		mod, after, found := strings.Cut(rest, "+")
		if !found || after == "" {
			break
		}
		switch mod {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		default:
			t.Fatalf("no such key: %q", name)
		}
		rest = after
	}
	if code, ok := named[rest]; ok {
		k.Code = code
		return k
	}
	r := []rune(rest)
	if len(r) != 1 {
		t.Fatalf("no such key: %q", name)
	}
	k.Code = r[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

// typeText sends text as a person types it.
func (b *bench) typeText(text string) {
	for _, r := range text {
		b.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// screen is what is seen, without styles.
func (b *bench) screen() string { return ansi.Strip(b.m.View().Content) }

// sees fails unless the screen shows a text.
func (b *bench) sees(text string) {
	b.t.Helper()
	if !strings.Contains(b.screen(), text) {
		b.t.Errorf("the screen does not show %q:\n%s", text, b.screen())
	}
}

func (b *bench) seesNot(text string) {
	b.t.Helper()
	if strings.Contains(b.screen(), text) {
		b.t.Errorf("the screen shows %q:\n%s", text, b.screen())
	}
}

// did fails unless the active dialogue was last asked for this.
func (b *bench) did(call string) {
	b.t.Helper()
	calls := b.m.tab().d.(*fakeDialogue).calls
	if len(calls) == 0 || calls[len(calls)-1] != call {
		b.t.Errorf("the dialogue was asked %.2000q, want %q last", calls, call)
	}
}

// check fails if the screen breaks a promise that holds in every state.
func (b *bench) check() {
	b.t.Helper()
	v := b.m.View()
	if b.m.width <= 0 || b.m.height <= 0 {
		return
	}
	if b.m.leaving {
		return
	}
	lines := strings.Split(v.Content, "\n")
	if len(lines) != b.m.height {
		b.t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), b.m.height, ansi.Strip(v.Content))
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > b.m.width {
			b.t.Fatalf("line %d is %d wide on a screen of %d: %q", i, w, b.m.width, line)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= b.m.width || c.Y >= b.m.height) {
		b.t.Fatalf("the cursor is at %d,%d on a screen of %dx%d", c.X, c.Y, b.m.width, b.m.height)
	}
}

// shelfDesk is a workspace with conversations of all kinds; the first one is open.
func shelfDesk() *fakeDesk {
	p := sampler.Params{Temperature: 1, TopP: 0.3, Decay: 0.996}
	return &fakeDesk{open: []*fakeDialogue{talk()}, stored: []turn.Conversation{
		{ID: 1, Title: "Feeding the rook", Updated: now, Sampling: p},
		{ID: 2, Title: "A dog story", Updated: now.Add(-2 * time.Hour)},
		{ID: 3, Title: "Another dog", Updated: now.Add(-26 * time.Hour)},
		{ID: 4, Title: "鸦巢里的故事", Updated: now.Add(-5 * 24 * time.Hour)},
		{ID: 5, Title: "Kept for long", Updated: now.Add(-300 * 24 * time.Hour), Pinned: true},
		{ID: 6, Title: "Put aside", Updated: now.Add(-40 * 24 * time.Hour), Archived: true},
		{ID: 7, Title: "Thrown out", Updated: now.Add(-50 * 24 * time.Hour), Deleted: now.Add(-time.Hour)},
	}}
}
