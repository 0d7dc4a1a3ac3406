package compare

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// score asks for the perplexities of the answers under the reference, once all
// have ended.
func (c *comparison) score(h kit.Host) tea.Cmd {
	ref := c.panes[c.ref]
	if c.running() || !c.waits() || c.scored == ref {
		return nil
	}
	c.cancelScores()
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
	ctx, cancel := context.WithCancel(h.Context())
	c.scored, c.stopScores = ref, cancel
	d, reference := c.tab.Dialogue(), c.asked[slices.Index(c.panes, ref)]
	work := func() ([]compare.Score, error) {
		defer cancel()
		return d.ScoreTurns(ctx, ids, reference)
	}
	return kit.Await(work, func(h kit.Host, scores []compare.Score, err error) tea.Cmd {
		if c.scored == ref && slices.Contains(h.Dialogs(), kit.Dialog(c)) {
			c.takeScores(ref, panes, scores, err)
		}
		return nil
	})
}

// takeScores gives panes the scores of their answers under a reference.
func (c *comparison) takeScores(ref *pane, panes []*pane, scores []compare.Score, err error) {
	if err != nil {
		c.said = "perplexity: " + kit.OneLine(err.Error())
		return
	}
	for i, p := range panes {
		if i < len(scores) && len(scores[i].LogProbs) > 0 {
			p.perplexity, p.ref = scores[i].Perplexity(), ref
		}
	}
}

func (c *comparison) cancelScores() {
	if c.stopScores != nil {
		c.stopScores()
		c.stopScores = nil
	}
}
