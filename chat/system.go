package chat

import (
	"rookery/infer"

	"rookery/chat/prompt"
	"rookery/chat/turn"
)

// SetSystem changes the system prompt. A conversation that has turns is read
// again from its tokens with the new prompt before the next answer. It is
// refused while an answer runs.
func (d *Dialogue) SetSystem(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ready(); err != nil {
		return err
	}
	was := d.conv
	d.conv.System = text
	if prompt.CleanText(was.System) != prompt.CleanText(text) {
		d.reopen(was)
	}
	d.saveHead()
	d.reline()
	return nil
}

// reopen gives all first turns the new opening and removes the snapshots of
// everything below. The first turns are saved last, together with the new
// prompt: a crash before that costs a replay and nothing else.
func (d *Dialogue) reopen(was turn.Conversation) {
	t := d.template()
	d.scope = scope{}
	for _, id := range d.tree.roots {
		root := d.tree.nodes[id]
		first := d.reopened(t, root.turn, was.System)
		for n := range d.tree.below(root) {
			d.tree.hold(n.turn.ID, nil)
			if n.turn.History.Base == was.Base {
				n.turn.History = n.turn.History.Reopened(len(root.turn.Tokens), len(first.Tokens))
			}
			if n != root {
				d.saver.Commit(was, n.turn, nil)
			}
		}
		first.History = root.turn.History
		root.turn = first
	}
	for _, id := range d.tree.roots {
		d.saver.Commit(d.conv, d.tree.nodes[id].turn, nil)
	}
}

// reopened is a first turn with the system prompt of now in place of another one.
func (d *Dialogue) reopened(t prompt.Template, first turn.Turn, was string) turn.Turn {
	now := d.rendering()
	old := now
	old.System = was
	return t.ReopenTurn(first, old, now)
}

// template is how the engine's model is spoken to.
func (d *Dialogue) template() prompt.Template {
	return prompt.TemplateWith(d.workspace.engine.Model(), d.workspace.settings().StateSpecs[d.base.Name])
}

func (d *Dialogue) rendering() prompt.Rendering {
	return prompt.Rendering{System: d.conv.System, Begins: d.base.Beginning(), BlankLines: d.workspace.settings().KeepBlankLines}
}

// usable says that a snapshot is of this model.
func usable(s *infer.Snapshot, m *infer.Model) bool {
	return s != nil && s.Model == m.Fingerprint && s.Tokenizer == m.Tokenizer.Fingerprint() &&
		(s.State == nil || len(s.State) == m.Shape.StateLen())
}
