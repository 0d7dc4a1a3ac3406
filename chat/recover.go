package chat

import (
	"fmt"
	"strings"

	"rookery/chat/turn"
	"rookery/infer"
)

// install fills a dialogue with what the store has. The caller holds mu.
func (d *Dialogue) install(c turn.Conversation, turns []turn.Turn, journals []turn.Journal) error {
	for _, t := range turns {
		if err := d.tree.add(t); err != nil {
			return err
		}
	}
	d.conv = c
	d.mend()
	for _, j := range journals {
		if err := d.recover(j); err != nil {
			return err
		}
	}
	return nil
}

// mend gives a head that is not in the tree, or not on the line to the tip,
// a place that is.
func (d *Dialogue) mend() {
	c := &d.conv
	switch {
	case len(d.tree.roots) == 0:
		d.goOnFrom(0)
	case d.tree.nodes[c.Tip] == nil && d.tree.nodes[c.Head] == nil:
		d.goOnFrom(d.tree.newest(d.tree.roots[len(d.tree.roots)-1]))
	case c.Head != 0 && d.tree.nodes[c.Head] == nil:
		c.Head = c.Tip
	case c.Head != 0 && !d.tree.above(c.Head, c.Tip):
		c.Tip = c.Head
	}
}

// recover puts an answer that a crash interrupted at the head, open to be
// continued from its journal.
func (d *Dialogue) recover(j turn.Journal) error {
	t := j.Turn
	prompt := d.tree.nodes[t.Parent]
	if prompt == nil {
		return fmt.Errorf("the journal of turn %d answers turn %d, which is missing: the conversation is damaged", t.ID, t.Parent)
	}
	if old := d.tree.nodes[t.ID]; len(j.Tokens) == 0 || old != nil && len(old.turn.Tokens) >= len(j.Tokens) {
		return nil // it has nothing that is not saved
	}
	if old := d.tree.nodes[t.ID]; old != nil {
		t.Label, t.Pinned = old.turn.Label, old.turn.Pinned
	}
	tmpl := d.template()
	t.Role, t.Tokens, t.Text = turn.RoleAssistant, j.Tokens, j.Text
	t.Open, t.Reason, t.Recall = true, infer.ReasonCancelled, nil
	if t.Model == tmpl.Model {
		t.History = t.History.Until(d.lineLen(t.Parent, t.History) + len(j.Tokens))
		header := strings.TrimLeft(tmpl.FindHeader(prompt.turn.Tokens), " ")
		tokens, stopped := tmpl.CutAtStop(j.Tokens, d.workspace.stops(tmpl))
		t.Tokens = tokens
		if text := tmpl.AnswerText(header, tokens); stopped || strings.HasPrefix(text, j.Text) {
			t.Text = text
		}
		if stopped {
			t.Open, t.Reason = false, infer.ReasonStop
		}
		t.Recall = d.recall(header, t.Text)
	}
	if err := d.tree.add(t); err != nil {
		return err
	}
	d.goOnFrom(t.ID)
	d.saver.Commit(d.conv, t, nil)
	return nil
}
