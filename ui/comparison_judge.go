package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// judgedMsg brings how likely a reference found the answers.
type judgedMsg struct {
	c      *comparison
	ref    *pane
	panes  []*pane
	judged []compare.Score
	err    error
}

// await asks for the perplexities of the answers under the reference, once all
// have ended.
func (c *comparison) await(m *Model) tea.Cmd {
	ref := c.panes[c.ref]
	if c.running() || !c.waits() || c.measured == ref {
		return nil
	}
	c.stopJudging()
	var panes []*pane
	var ids []turn.ID
	for _, p := range c.panes {
		if p.there && !p.gone {
			panes, ids = append(panes, p), append(ids, p.row.Turn.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	c.measured, c.judging = ref, cancel
	d, reference := c.tab.d, c.asked[slices.Index(c.panes, ref)]
	return func() tea.Msg {
		defer cancel()
		judged, err := d.ScoreTurns(ctx, ids, reference)
		return judgedMsg{c, ref, panes, judged, err}
	}
}

func (c *comparison) stopJudging() {
	if c.judging != nil {
		c.judging()
		c.judging = nil
	}
}

func (msg judgedMsg) take(m *Model) tea.Cmd {
	c := msg.c
	if c.measured != msg.ref || !slices.Contains(m.dialogs, kit.Dialog(c)) {
		return nil // another reference, or nobody looks
	}
	if msg.err != nil {
		c.said = "perplexity: " + kit.OneLine(msg.err.Error())
		return nil
	}
	for i, p := range msg.panes {
		if i < len(msg.judged) && len(msg.judged[i].LogProbs) > 0 {
			p.perplexity, p.ref = msg.judged[i].Perplexity(), msg.ref
		}
	}
	return nil
}
