package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/grammar"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// greeting is what an empty conversation shows: the model, and how to begin.
func (m *Model) greeting(width int) []string {
	var lines []string
	lines = append(lines, m.th.Title.Render(kit.Fit(m.modelName(), width)), "")
	if m.model != nil {
		if text := prompt.Greeting(m.model); text != "" {
			lines = append(lines, append(kit.Wrap(text, width), "")...)
		}
	}
	hint := func(id keys.ID, what string) {
		if key := m.keymap.Hint(keys.Composer, id); key != "" {
			lines = append(lines, m.th.Key.Render(kit.Pad(key, 14))+m.th.Muted.Render(kit.Fit(what, width-14)))
		}
	}
	hint(keys.Send, "send what you write")
	hint(keys.Newline, "start a new line")
	hint(keys.NewTab, "another conversation beside this one")
	hint(keys.Conversations, "open an earlier conversation")
	hint(keys.Palette, "all commands; or type /")
	hint(keys.Help, "all keys")
	return lines
}

// drawRule separates the messages from the prompt and says how answers are made.
func (m *Model) drawRule() string {
	t := m.tab()
	c := t.view.Conversation
	var parts []string
	if t.view.Base != "" {
		parts = append(parts, "from "+kit.OneLine(t.view.Base))
	}
	if t.view.Adapter != "" {
		parts = append(parts, "adapter "+kit.OneLine(t.view.Adapter))
	}
	edited, editing := t.composer.Edited()
	switch {
	case editing:
		parts = append(parts, "editing "+edited.String())
	case c.System != "":
		parts = append(parts, "system prompt")
	}
	if c.Think != "" && c.Think != turn.ThinkOff {
		parts = append(parts, "think "+string(c.Think))
	}
	if c.Form.Kind != grammar.KindNone {
		parts = append(parts, "form "+string(c.Form.Kind))
	}
	if c.Mix.Active() {
		parts = append(parts, "mix "+kit.OneLine(c.Mix.String()))
	}
	if c.ID != 0 {
		preset := c.Preset
		if preset == "" {
			preset = "own sampling"
		}
		parts = append(parts, preset+" · "+kit.SummariseSampling(c.Sampling))
	}
	glyph := m.th.Glyphs.Rule
	if glyph == "" {
		glyph = " "
	}
	left := ""
	if len(parts) > 0 {
		left = " " + strings.Join(parts, " · ") + " "
	}
	right := ""
	if percent, away := t.transcript.Position(); away && !t.empty() {
		right = fmt.Sprintf(" %d %% ", percent)
		if t.transcript.NewBelow() {
			right = fmt.Sprintf(" %d %% · new text below, %s ", percent, m.hintFor(keys.Bottom))
		}
	}
	left = kit.Fit(left, max(0, m.width-ansi.StringWidth(right)-4))
	fill := max(0, m.width-ansi.StringWidth(left)-ansi.StringWidth(right)-4)
	style := m.th.Border
	line := style.Render(strings.Repeat(glyph, 2)) + m.th.Muted.Render(left) + style.Render(strings.Repeat(glyph, fill))
	if t.transcript.NewBelow() && right != "" {
		line += m.th.Accent.Render(right)
	} else {
		line += m.th.Muted.Render(right)
	}
	return kit.Fit(line+style.Render(strings.Repeat(glyph, 2)), m.width)
}

// hintLines are the notice, or the keys that make sense next.
func (m *Model) hintLines() []string {
	if m.notice.text != "" {
		return m.noticeLines()
	}
	return []string{m.drawHints()}
}

// noticeLines are the notice in as many lines as it needs and the screen can
// spare: the end of an error is the way out of it.
func (m *Model) noticeLines() []string {
	style, text, hint := m.th.Success, m.notice.text, ""
	if m.notice.failed {
		style, text = m.th.Error, "✗ "+text
		if len(m.dialogs) == 0 { // there the key closes the dialog
			hint = "  " + m.keymap.Hint(keys.Composer, keys.Stop) + " dismisses"
		}
	}
	lines := kit.Wrap(text, m.width)
	if room := max(1, m.height/6); len(lines) > room {
		lines = append(lines[:room-1:room-1], strings.Join(lines[room-1:], " "))
	}
	last := len(lines) - 1
	for i, line := range lines {
		room := m.width // wrapping takes some clusters for narrower than they are
		if i == last {
			room -= len(hint)
		}
		lines[i] = style.Render(kit.Fit(line, room))
	}
	lines[last] += m.th.Muted.Render(hint)
	return lines
}

// drawHints are the keys that make sense next.
func (m *Model) drawHints() string {
	var pairs []string
	if len(m.dialogs) > 0 {
		return "" // the dialog has its own
	}
	if m.strip.Focused() { // keys of its own, which are in no table
		pairs = m.strip.Hints(m.th, m.keymap)
	}
	for _, h := range m.nextKeys() {
		var names []string
		for _, id := range h.ids {
			if key := m.keymap.Hint(m.focus, id); key != "" {
				names = append(names, key)
			}
		}
		pairs = append(pairs, strings.Join(names, "/"), h.what)
	}
	return kit.HintLine(m.th, m.width, pairs...)
}

// A nextKey is an action, or two opposite ones, that is obvious now.
type nextKey struct {
	what string
	ids  []keys.ID
}

func next(what string, ids ...keys.ID) nextKey { return nextKey{what, ids} }

// nextKeys are the actions to point at, the most obvious one first.
func (m *Model) nextKeys() []nextKey {
	t := m.tab()
	var first []nextKey
	edited, editing := t.composer.Edited()
	_, matches := t.transcript.Found()
	switch {
	case m.strip.Focused():
	case m.focus == keys.Panel:
		first = []nextKey{next("close the panel", keys.ClosePanel), next("back to the prompt", keys.FocusPanel)}
	case m.focus == keys.Transcript && matches > 0:
		return []nextKey{
			next("next, previous match", keys.SearchNext, keys.SearchPrev), next("end the search", keys.Stop),
			next("back to the prompt", keys.FocusComposer),
		}
	case m.focus == keys.Transcript:
		return []nextKey{
			next("select", keys.SelectPrev, keys.SelectNext), next("copy", keys.CopyMessage), next("back to the prompt", keys.FocusComposer),
			next("fold", keys.Fold), next("search", keys.Search), next("retry", keys.Retry), next("edit", keys.EditLast), next("help", keys.Help),
		}
	case t.composer.MenuOpen():
		return []nextKey{
			next("complete", keys.Complete), next("choose", keys.HistoryPrev, keys.HistoryNext), next("run", keys.Send), next("close the list", keys.Stop),
		}
	case t.generating():
		first = []nextKey{next("stop", keys.Stop), next("messages", keys.Complete)}
	case editing:
		first = keysOfEdit(edited)
	case !t.composer.Empty():
		first = []nextKey{next("send", keys.Send), next("new line", keys.Newline), next("editor", keys.Editor)}
	case t.resumable():
		first = []nextKey{next("continue", keys.Continue), next("retry", keys.Retry), next("messages", keys.Complete)}
	case t.unanswered():
		first = []nextKey{next("answer the prompt", keys.Continue), next("edit it", keys.EditLast), next("messages", keys.Complete)}
	case !t.empty():
		first = []nextKey{next("send", keys.Send), next("retry", keys.Retry), next("messages", keys.Complete)}
	default:
		first = []nextKey{next("send", keys.Send)}
	}
	if m.panel.open() && m.focus != keys.Panel {
		first = append(first, next("panel", keys.FocusPanel))
	}
	return append(first, next("commands", keys.Palette), next("help", keys.Help), next("new tab", keys.NewTab), next("quit", keys.Quit))
}

// drawStrip is the engine at a glance, and what runs the model if there is room.
func (m *Model) drawStrip() string {
	s := m.monitor.stats
	if s.Rows == 0 {
		s.RowsInStep = 0 // the last step is over
	}
	rest := m.width - ansi.StringWidth(s.Backend) - 2
	if rest < 100 {
		return panel.Strip(s, m.width, m.th)
	}
	return panel.Strip(s, rest, m.th) + "  " + m.th.Muted.Render(s.Backend)
}

// keysOfEdit are what to do with the changed text of a turn.
func keysOfEdit(e composer.Edited) []nextKey {
	if e.Answer {
		return []nextKey{next("keep the edited answer", keys.Send), next("continue from the cursor", keys.Continue), next("leave it as it was", keys.Stop)}
	}
	return []nextKey{next("send the edited prompt", keys.Send), next("leave it as it was", keys.Stop)}
}
