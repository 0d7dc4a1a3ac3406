package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

type (
	// keepPanes ends a comparison: the conversation goes on from the first of
	// keep. Without any to keep it stays where it is.
	keepPanes struct {
		c    *comparison
		keep []turn.ID
		drop bool
	}
	// askDiscard asks whether all answers are to be removed.
	askDiscard struct{ c *comparison }
	// forkPanes opens tabs for answers, comparePanesAgain starts over.
	forkPanes         struct{ c *comparison }
	comparePanesAgain struct{ c *comparison }
	// lookAgain has nothing done but what follows every message.
	lookAgain struct{}
)

// leaveComparison takes a comparison away, and what is above it.
func (m *Model) leaveComparison(c *comparison) {
	if i := slices.Index(m.dialogs, kit.Dialog(c)); i >= 0 {
		m.dialogs = m.dialogs[:i]
	}
	c.stopJudging()
	m.tab().transcript.ScrollToEnd()
}

func (i keepPanes) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.leaveComparison(i.c)
	if !i.c.waits() {
		return m.look()
	}
	err := m.tab().d.ChooseAlternatives(i.keep, i.drop)
	said := ""
	if err == nil && len(i.keep) == 0 && !i.drop {
		said = "the answers stay as versions"
	}
	return tea.Batch(m.report(said, err), m.look(), m.tick())
}

func (i askDiscard) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.OpenDialog(&kit.Confirmation{
		Title: "Discard all answers?", Text: "They are removed for good. The conversation is as it was before.",
		Verb: "discard", Accept: keepPanes{c: i.c, drop: true}.do,
	})
	return nil
}

func (i lookAgain) do(h kit.Host) tea.Cmd { return h.(*Model).look() }

// carryOut forks: the answers stay as versions of this conversation too.
func (i forkPanes) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	c, t := i.c, m.tab()
	if c.running() {
		c.said = "The answers are running: wait, or stop them first."
		return nil
	}
	var rows []turn.ID
	for _, p := range c.panes {
		if p.marked && !p.gone {
			rows = append(rows, p.row.Turn.ID)
		}
	}
	forks, err := m.workspace.ForkAlternatives(t.d, rows)
	if err == nil {
		err = t.d.ChooseAlternatives(nil, false)
	}
	if err != nil {
		c.said = kit.OneLine(err.Error())
		return nil
	}
	m.leaveComparison(c)
	at := m.active + 1
	for n, d := range forks {
		m.insertTab(at+n, d)
	}
	m.goTo(at)
	said := fmt.Sprintf("%d answers go on in tabs of their own", len(forks))
	if len(forks) == 1 {
		said = "the answer goes on in a tab of its own"
	}
	return tea.Batch(m.say(said), m.look(), m.tick())
}

func (i comparePanesAgain) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	c, t := i.c, m.tab()
	if c.running() {
		c.said = "The answers are running: wait, or stop them first."
		return nil
	}
	var err error
	held := holdModels(c.asked) // until they compare again
	defer releaseModels(held)
	if c.waits() {
		err = t.d.ChooseAlternatives(nil, false)
	}
	next := nextSeeds(c.asked)
	if err == nil {
		err = t.d.Compare(next)
	}
	if err != nil {
		c.said = kit.OneLine(err.Error())
		return m.look()
	}
	again := newComparison(t, c.tok, next, c.blind || c.voted)
	again.alone = c.alone
	m.leaveComparison(c)
	cmd := tea.Batch(m.look(), m.tick())
	m.OpenDialog(again)
	return cmd
}
