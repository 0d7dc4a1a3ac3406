package ui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// A closedTab can be opened again.
type closedTab struct {
	id     turn.ID // 0 if nothing was said in it
	at     int     // where it was
	prompt *composer.Composer
}

// restore opens what was open last time.
func (m *Model) restore() tea.Cmd {
	active := 0
	var drafts map[turn.ID]turn.Draft
	return kit.Await(func() (open []*chat.Dialogue, err error) {
		if drafts, err = m.workspace.Drafts(m.ctx); err != nil {
			return nil, err
		}
		open, active, err = restoreTabs(m.ctx, m.workspace, m.options.First)
		return open, err
	}, func(_ kit.Host, open []*chat.Dialogue, err error) tea.Cmd {
		maps.Copy(m.drafts.saved, drafts)
		return m.showRestored(open, active, err)
	})
}

// restoreTabs opens what was open and shows first, which may be nil, beside it.
func restoreTabs(ctx context.Context, w *chat.Workspace, first *chat.Dialogue) (open []*chat.Dialogue, active int, err error) {
	open, active, err = w.Restore(ctx)
	if first != nil {
		drafts, derr := w.Drafts(ctx)
		if err == nil {
			err = derr
		}
		if len(open) == 1 && len(open[0].View().Turns) == 0 && open[0].View().Err == nil && drafts[open[0].ID()] == (turn.Draft{}) {
			w.CloseDialogue(open[0]) // it was opened for want of another one
			open = nil
		}
		active = len(open)
		open = append(open, first)
	}
	return open, active, err
}

// showRestored replaces the tab that stood in for what was being opened, and
// keeps what has been typed into it.
func (m *Model) showRestored(open []*chat.Dialogue, active int, err error) tea.Cmd {
	typed := m.tab().composer
	m.tabs = nil
	for _, d := range open {
		m.tabs = append(m.tabs, m.openTab(d))
	}
	if len(m.tabs) == 0 {
		m.tabs = append(m.tabs, m.openTab(m.workspace.New()))
	}
	m.active = min(max(active, 0), len(m.tabs)-1)
	if !typed.Empty() {
		m.tab().takePrompt(typed)
	}
	m.measure()
	var cmd tea.Cmd
	if err != nil {
		cmd = m.fail(err)
	}
	return tea.Batch(cmd, m.look(), m.awaitChange(), m.tick())
}

// openTab makes a tab of a dialogue; without one it stands in for those that are
// still being opened.
func (m *Model) openTab(d *chat.Dialogue) *tab {
	view := chat.View{Loading: true}
	if d != nil {
		view = d.View()
	}
	written := composer.New(m.th, m.history)
	if d != nil {
		written.Restore(m.drafts.saved[d.ID()])
	}
	return &tab{
		d: d, view: view, composer: written, drafted: written.Changes(),
		transcript: transcript.New(transcript.Options{Theme: m.th, Keys: m.keymap, ModelName: m.modelName(), Clipboard: m.clipboard}),
	}
}

// goTo shows a tab.
func (m *Model) goTo(i int) {
	if i < 0 || i >= len(m.tabs) {
		return
	}
	m.active = i
	t := m.tab()
	t.unread = false
	t.transcript.Sync(t.shown())
	t.transcript.Animate(m.spin())
	if m.focus == keys.Transcript {
		m.setFocus(keys.Composer)
	}
	m.saveLayout()
}

func (m *Model) newTab(string) tea.Cmd {
	m.insertTab(m.active+1, m.workspace.New())
	return nil
}

func (m *Model) insertTab(at int, d *chat.Dialogue) {
	at = min(max(at, 0), len(m.tabs))
	m.tabs = slices.Insert(m.tabs, at, m.openTab(d))
	m.setFocus(keys.Composer)
	m.goTo(at)
}

// askClose closes the tab; a running answer is worth a question.
func (m *Model) askClose(string) tea.Cmd {
	if m.tab().generating() {
		m.OpenDialog(&kit.Confirmation{
			Title: "Close the tab?", Text: "An answer is running. It is stopped and saved, and can be continued later.",
			Verb: "close", Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialog()
				return m.closeTab()
			},
		})
		return nil
	}
	return m.closeTab()
}

// closeTab closes the active tab. The last one makes room for a new conversation.
func (m *Model) closeTab() tea.Cmd {
	t := m.tab()
	if t.opening() {
		return m.fail(errOpening)
	}
	m.saveDrafts()
	if len(m.tabs) == 1 && t.empty() && t.composer.Empty() && t.view.Conversation.Title == "" && t.view.Base == "" {
		return m.say("this is the only tab, and it is empty; " + m.hintFor(keys.Quit) + " quits")
	}
	switch {
	case !t.empty():
		m.closed = append(m.closed, closedTab{t.d.ID(), m.active, t.composer})
	case !t.composer.Empty():
		m.saveDraft(t.d.ID(), turn.Draft{}) // nothing would open it again
		m.closed = append(m.closed, closedTab{0, m.active, t.composer})
	}
	m.workspace.CloseDialogue(t.d)
	m.tabs = slices.Delete(m.tabs, m.active, m.active+1)
	if len(m.tabs) == 0 {
		m.tabs = append(m.tabs, m.openTab(m.workspace.New()))
	}
	m.goTo(min(m.active, len(m.tabs)-1))
	return nil
}

// askCloseOthers closes all tabs but the active one; running answers are worth a
// question.
func (m *Model) askCloseOthers(string) tea.Cmd {
	if len(m.tabs) == 1 {
		return m.fail(errors.New("there is no other tab"))
	}
	running := 0
	for i, t := range m.tabs {
		if i != m.active && t.generating() {
			running++
		}
	}
	if running > 0 {
		m.OpenDialog(&kit.Confirmation{
			Title: "Close the other tabs?", Text: fmt.Sprintf("In %d of them an answer is running. It is stopped and saved, and can be continued later.", running),
			Verb: "close", Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialog()
				return m.closeOthers()
			},
		})
		return nil
	}
	return m.closeOthers()
}

// closeOthers closes all tabs but the active one, from the right: reopened one
// by one, they come back where they were.
func (m *Model) closeOthers() tea.Cmd {
	stays, closed := m.tab(), 0
	for i := len(m.tabs) - 1; i >= 0; i-- {
		if m.tabs[i] == stays {
			continue
		}
		if m.active = i; m.tab().opening() {
			continue
		}
		m.closeTab()
		closed++
	}
	m.goTo(slices.Index(m.tabs, stays))
	return m.say(fmt.Sprintf("closed %d tabs; %s opens them again one by one", closed, m.hintFor(keys.ReopenTab)))
}

// reopen opens the tab that was closed last.
func (m *Model) reopen(string) tea.Cmd {
	if len(m.closed) == 0 {
		return m.fail(errors.New("no tab has been closed; " + m.hintFor(keys.Conversations) + " opens stored conversations"))
	}
	last := m.closed[len(m.closed)-1]
	m.closed = m.closed[:len(m.closed)-1]
	return m.reopenTab(last)
}

// reopenTab opens a tab where it was, with what was written in it.
func (m *Model) reopenTab(c closedTab) tea.Cmd {
	var cmd tea.Cmd
	if c.id == 0 {
		m.insertTab(c.at, m.workspace.New())
	} else {
		cmd = m.openStored(c.id, c.at)
	}
	if m.tab().composer.Empty() {
		m.tab().takePrompt(c.prompt)
		m.tab().composer.SetTheme(m.th)
	}
	return cmd
}

// openStored shows a stored conversation: in its tab, if it has one.
func (m *Model) openStored(id turn.ID, at int) tea.Cmd {
	if i := m.findTab(id); i >= 0 {
		m.goTo(i)
		return nil
	}
	m.insertTab(at, m.workspace.Open(id))
	return tea.Batch(m.look(), m.tick())
}

// findTab is the index of a conversation's tab, or -1.
func (m *Model) findTab(id turn.ID) int {
	return slices.IndexFunc(m.tabs, func(t *tab) bool { return !t.opening() && t.d.ID() == id })
}

// stepTab goes to the next or previous tab, and around.
func (m *Model) stepTab(by int) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		if len(m.tabs) == 1 {
			return m.say("there is one tab; " + m.hintFor(keys.NewTab) + " opens another")
		}
		m.goTo((m.active + len(m.tabs) + by) % len(m.tabs))
		return nil
	}
}

// goToTab goes to a tab by its place.
func (m *Model) goToTab(i int) tea.Cmd {
	if i >= len(m.tabs) {
		return m.say(fmt.Sprintf("there is no tab %d", i+1))
	}
	m.goTo(i)
	return nil
}

func (m *Model) moveTab(by int) tea.Cmd {
	to := m.active + by
	if to < 0 || to >= len(m.tabs) {
		return m.say("the tab cannot be moved further")
	}
	m.tabs[m.active], m.tabs[to] = m.tabs[to], m.tabs[m.active]
	m.active = to
	m.saveLayout()
	return nil
}

// saveLayout remembers which conversations are open.
func (m *Model) saveLayout() {
	open := make([]*chat.Dialogue, 0, len(m.tabs))
	for _, t := range m.tabs {
		if t.opening() {
			return // nothing is known yet that could be remembered
		}
		open = append(open, t.d)
	}
	m.workspace.SaveLayout(open, m.active)
}

// hintFor is the key of an action for a sentence, or its command.
func (m *Model) hintFor(id keys.ID) string {
	if key := m.keymap.Hint(keys.Composer, id); key != "" {
		return key
	}
	a, _ := keys.Find(id)
	return "/" + a.Slash
}

// dropTab takes a tab away without shutting its dialogue.
func (m *Model) dropTab(i int) {
	m.tabs = slices.Delete(m.tabs, i, i+1)
	if len(m.tabs) == 0 {
		m.tabs = append(m.tabs, m.openTab(m.workspace.New()))
	}
	active := m.active
	if i < active {
		active--
	}
	m.goTo(min(active, len(m.tabs)-1))
}
