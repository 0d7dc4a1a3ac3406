package compare

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// stillRunning is said to who cannot do something yet.
const stillRunning = "The answers are running: wait, or stop them first."

// leave takes the comparison away, and what is above it.
func (c *comparison) leave(h kit.Host) {
	closeAbove(h, c)
	h.CloseDialog()
	c.cancelScores()
	c.tab.ScrollToEnd()
}

// stop stops all answers.
func (c *comparison) stop(h kit.Host) tea.Cmd {
	c.tab.Dialogue().Stop()
	return h.Refresh()
}

// keep ends the comparison: the conversation goes on from the first of the
// answers. Without any it stays where it is.
func (c *comparison) keep(answers []turn.ID, drop bool) kit.Action {
	return func(h kit.Host) tea.Cmd {
		c.leave(h)
		if !c.waits() {
			return h.Refresh()
		}
		err := c.tab.Dialogue().ChooseAlternatives(answers, drop)
		said := ""
		if len(answers) == 0 && !drop {
			said = "the answers stay as versions"
		}
		return tea.Batch(kit.Report(h, said, err), h.Refresh())
	}
}

// askDiscard asks whether all answers are to be removed.
func (c *comparison) askDiscard(h kit.Host) tea.Cmd {
	h.OpenDialog(&kit.Confirmation{
		Title: "Discard all answers?", Text: "They are removed for good. The conversation is as it was before.",
		Verb: "discard", Accept: c.keep(nil, true),
	})
	return nil
}

// fork opens a tab for each marked answer, or for all. They stay as versions of
// this conversation too.
func (c *comparison) fork(h kit.Host) tea.Cmd {
	if c.running() {
		c.said = stillRunning
		return nil
	}
	var marked []turn.ID
	for _, p := range c.panes {
		if p.marked && !p.gone {
			marked = append(marked, p.row.Turn.ID)
		}
	}
	d := c.tab.Dialogue()
	forks, err := h.Workspace().ForkAlternatives(d, marked...)
	if err == nil {
		err = d.ChooseAlternatives(nil, false)
	}
	if err != nil {
		c.said = kit.OneLine(err.Error())
		return nil
	}
	c.leave(h)
	said := fmt.Sprintf("%d answers go on in tabs of their own", len(forks))
	if len(forks) == 1 {
		said = "the answer goes on in a tab of its own"
	}
	return tea.Batch(h.OpenTab(forks...), h.Say(said))
}

// again keeps the answers as versions and compares with other seeds.
func (c *comparison) again(h kit.Host) tea.Cmd {
	if c.running() {
		c.said = stillRunning
		return nil
	}
	held := retainModels(c.asked) // until they compare again
	defer ReleaseModels(held)
	var err error
	if c.waits() {
		err = c.tab.Dialogue().ChooseAlternatives(nil, false)
	}
	var next []chat.Variant
	if err == nil {
		next, err = c.askAgain()
	}
	if err != nil {
		c.said = kit.OneLine(err.Error())
		return h.Refresh()
	}
	c.leave(h)
	cmd := h.Refresh()
	if c.oneVariant {
		return tea.Batch(cmd, showAlternatives(h))
	}
	again := newComparison(h, next, c.blind || c.voted)
	again.alone = c.alone
	h.OpenDialog(again)
	return cmd
}

// askAgain begins other answers in the same ways.
func (c *comparison) askAgain() ([]chat.Variant, error) {
	if c.oneVariant {
		return nil, c.tab.Dialogue().Best(len(c.asked))
	}
	next := takeNextSeeds(c.asked)
	return next, c.tab.Dialogue().Compare(next)
}
