package ui

import (
	"context"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
	"rookery/ui/kit"
	"rookery/ui/uitest"
)

// now is when everything happens in these tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A scene is what a bench begins with.
type scene struct {
	open   []*sketch // the conversations that are open
	active int
	stored []turn.Conversation // not open, without turns
	stats  infer.Stats         // of the engine, whatever it does
}

// A sketch is a conversation to be stored.
type sketch struct {
	conversation turn.Conversation
	turns        []turn.Turn
}

const modelName = "test-g1-20260312"

func newSketch(id turn.ID, title string) *sketch {
	return &sketch{conversation: turn.Conversation{
		ID: id, Title: title, Created: now, Updated: now, Think: turn.ThinkOff, Preset: "chat", Sampling: chatSampling,
	}}
}

var chatSampling = sampler.Params{Temperature: 1, TopP: 0.3, Decay: 0.996}

// say adds a turn to the line.
func (d *sketch) say(role turn.Role, text string) *turn.Turn {
	t := d.beside(d.conversation.Head, role, text)
	d.conversation.Head, d.conversation.Tip = t.ID, t.ID
	return t
}

// beside adds a turn below a parent, without going there.
func (d *sketch) beside(parent turn.ID, role turn.Role, text string) *turn.Turn {
	t := turn.Turn{ID: 1000*d.conversation.ID + turn.ID(len(d.turns)+1), Parent: parent, Role: role, Text: text, Created: now}
	if role == turn.RoleAssistant {
		t.ModelName, t.Reason = modelName, infer.ReasonStop
		t.Usage = infer.Usage{Generated: 128, DecodeTime: 3 * time.Second}
	}
	d.turns = append(d.turns, t)
	return &d.turns[len(d.turns)-1]
}

// figures is an engine whose figures are those of a scene.
type figures struct {
	*infer.Engine
	scene *scene
}

func (f figures) Stats() infer.Stats { return f.scene.stats }

// running is a view of an answer that has come so far.
func running(text string, p infer.Progress) func(*chat.View) {
	return func(v *chat.View) {
		v.Live = &chat.Live{
			Turn: turn.Turn{ID: 1 << 40, Role: turn.RoleAssistant, ModelName: modelName},
			Text: text, Progress: p, Started: now,
		}
	}
}

// A bench drives a model without a terminal. Its workspace is real; to a prompt
// that begins with forever the answer does not end.
type bench struct {
	t     testing.TB
	m     *Model
	world *uitest.World
	raw   []tea.Msg // what a terminal would have got
}

func newBench(t testing.TB, k *scene, s Settings, width, height int) *bench {
	t.Helper()
	b := &bench{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	b.world = uitest.New(t, uitest.Options{
		Stored: k.stored, Setup: func(s *memstore.Store) { k.store(t, s) }, Model: modelName, Step: time.Millisecond,
		Answers:  []scripted.Answer{{Prompt: "forever", Text: strings.Repeat(" and on", 20000)}},
		Engine:   func(e *infer.Engine) chat.Engine { return figures{e, k} },
		Defaults: chat.Defaults{Preset: "chat", Presets: []prompt.Preset{{Name: "chat", Sampling: chatSampling}}},
	})
	t.Cleanup(cancel)
	b.begin(New(ctx, Options{Workspace: b.world.Workspace, Settings: s, Version: "1.0", DataDir: "/home/you/.local/share/rookery", Clipboard: func(string) error { return nil }, In: strings.NewReader(""), Out: io.Discard}), width, height)
	b.do(b.m.Init())
	return b
}

// begin shows a model on a screen, before it opens anything.
func (b *bench) begin(m *Model, width, height int) {
	b.m = m
	m.clock = func() time.Time { return now }
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	if width > 0 {
		b.send(tea.WindowSizeMsg{Width: width, Height: height})
	}
}

// store puts what a scene begins with into a store.
func (k *scene) store(t testing.TB, s *memstore.Store) {
	layout := turn.Layout{Active: k.active}
	for _, d := range k.open {
		uitest.Must(t, s.SaveConversation(t.Context(), d.conversation))
		for _, said := range d.turns {
			uitest.Must(t, s.CommitTurn(t.Context(), d.conversation, said, nil))
		}
		layout.Open = append(layout.Open, d.conversation.ID)
	}
	uitest.Must(t, s.SaveLayout(t.Context(), layout))
}

// send gives a message to the model and runs what follows from it.
func (b *bench) send(msg tea.Msg) {
	_, cmd := b.m.Update(msg)
	b.do(cmd)
}

// paint changes what the last look at a dialogue saw: a moment of an answer
// that no engine can be stopped at.
func (b *bench) paint(i int, changes ...func(*chat.View)) {
	b.send(kit.Action(func(kit.Host) tea.Cmd {
		t := b.m.tabs[i]
		t.view.Turns, t.view.Siblings = slices.Clone(t.view.Turns), slices.Clone(t.view.Siblings)
		for _, change := range changes {
			change(&t.view)
		}
		t.view.Version += 1 << 20
		if i == b.m.active {
			t.transcript.Sync(t.shown())
		}
		return nil
	}))
}

// until looks at the dialogues until something is so.
func (b *bench) until(so func() bool) {
	b.t.Helper()
	for end := time.Now().Add(patience); !so(); b.send(frameMsg{}) {
		if time.Now().After(end) {
			b.t.Fatalf("it does not come to pass:\n%s", b.screen())
		}
		time.Sleep(time.Millisecond)
	}
}

// rest looks until no answer runs in the active tab.
func (b *bench) rest() {
	b.t.Helper()
	b.until(func() bool { return b.m.tab().d.View().Live == nil })
	b.send(frameMsg{})
}

// do runs commands one after the other. The one that waits for the workspace to
// change is left out: a test sends a frameMsg instead.
func (b *bench) do(cmd tea.Cmd) {
	if cmd == nil || strings.Contains(runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name(), "awaitChange") {
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

// press sends keys by their names.
func (b *bench) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.send(uitest.Key(b.t, name))
	}
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

// prompted fails unless the active conversation was last sent this prompt.
func (b *bench) prompted(text string) {
	b.t.Helper()
	var last string
	for _, said := range b.m.tab().d.View().Turns {
		if said.Role == turn.RoleUser {
			last = said.Text
		}
	}
	if last != text {
		b.t.Errorf("the last prompt is %q, want %q", last, text)
	}
}

// keeps waits until the layout that the next start finds is this. A new
// conversation has the id 0 here.
func (b *bench) keeps(active int, open ...turn.ID) {
	b.t.Helper()
	var got turn.Layout
	for end := time.Now().Add(patience / 6); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var err error
		got, err = b.world.Store.Layout(b.t.Context())
		uitest.Must(b.t, err)
		for i, id := range got.Open {
			if id > 1000 {
				got.Open[i] = 0
			}
		}
		if got.Active == active && slices.Equal(got.Open, open) {
			return
		}
	}
	b.t.Errorf("the layout is %v, want %v at %d", got, open, active)
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
