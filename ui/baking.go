package ui

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A baking is the dialog of a text that is being read into a state.
type baking struct {
	cancel        context.CancelFunc
	progress      atomic.Pointer[infer.Progress]
	seen          infer.Progress // what is drawn
	width, height int
}

// bakeTickMsg lets the dialog look at the progress.
type bakeTickMsg struct{ b *baking }

// bakedMsg says that a text has become a state, or why not.
type bakedMsg struct {
	b   *baking
	s   turn.State
	err error
}

const bakeEvery = 100 * time.Millisecond

// bakeFile bakes a text file; without a path it asks for one.
func (m *Model) bakeFile(path string) tea.Cmd {
	if path == "" {
		return m.carryOutState(askBakeFile{})
	}
	return m.bake(func() (library.Recipe, error) { return readTextFile(path) })
}

// bake reads a text beside whatever else runs, and shows how far it is.
func (m *Model) bake(recipe func() (library.Recipe, error)) tea.Cmd {
	m.dialogs = nil
	ctx, cancel := context.WithCancel(m.ctx)
	b := &baking{cancel: cancel}
	m.open(b)
	work := func() tea.Msg {
		defer cancel()
		r, err := recipe()
		if err != nil {
			return bakedMsg{b, turn.State{}, err}
		}
		s, err := m.workspace.Bake(ctx, r, func(p infer.Progress) { b.progress.Store(&p) })
		return bakedMsg{b, s, err}
	}
	return tea.Batch(work, m.after(bakeEvery, bakeTickMsg{b}))
}

func (m *Model) onBakeTick(msg bakeTickMsg) tea.Cmd {
	if p := msg.b.progress.Load(); p != nil {
		msg.b.seen = *p
	}
	for _, d := range m.dialogs {
		if d == msg.b {
			return m.after(bakeEvery, msg)
		}
	}
	return nil
}

// onBaked takes the dialog away.
func (m *Model) onBaked(msg bakedMsg) tea.Cmd {
	kept := m.dialogs[:0]
	for _, d := range m.dialogs {
		if d != msg.b {
			kept = append(kept, d)
		}
	}
	m.dialogs = kept
	switch {
	case errors.Is(msg.err, context.Canceled):
		return m.say("baking was stopped; nothing is kept")
	case msg.err != nil:
		return m.fail(msg.err)
	}
	return m.say(fmt.Sprintf("baked “%s”, %s tokens; %s begins from it", oneLine(msg.s.Name), count(msg.s.Read), m.hintFor(keys.States)))
}

func (b *baking) press(id keys.ID, _ string) intent {
	if id == keys.ListCancel {
		return stopBaking{b}
	}
	return nil
}

func (b *baking) wheel(int) intent         { return nil }
func (b *baking) click(int, int) intent    { return nil }
func (b *baking) resize(width, height int) { b.width, b.height = width, height }

func (b *baking) draw(th theme.Theme, m keys.Map) box {
	inner := innerWidth(50, b.width)
	p := b.seen
	share, said := 0.0, "reading the text"
	if p.ToRead > 0 {
		share = float64(p.Read) / float64(p.ToRead)
		said = fmt.Sprintf("%s of %s tokens", count(p.Read), count(p.ToRead))
		if p.Rate > 0 && p.Read < p.ToRead {
			said += fmt.Sprintf(", %s a second", rate(p.Rate))
		}
	}
	style := graph.Blocks
	if !th.Glyphs.Braille {
		style = graph.ASCII
	}
	content := []string{said, th.Graph1.Render(graph.Bar(share, inner, style))}
	return framed(th, "Baking", content, hintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "stop"), inner, b.width, b.height)
}
