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
	for id, n := range d.tree.nodes {
		d.tree.hold(id, nil)
		if n.turn.Parent != 0 {
			d.saver.commit(was, n.turn, nil)
		}
	}
	for _, id := range d.tree.roots {
		n := d.tree.nodes[id]
		n.turn = d.reopened(t, n.turn, was.System)
		d.saver.commit(d.conv, n.turn, nil)
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
func (d *Dialogue) template() prompt.Template { return prompt.TemplateOf(d.workspace.engine.Model()) }

func (d *Dialogue) rendering() prompt.Rendering {
	return prompt.Rendering{System: d.conv.System, Begins: d.base.Beginning(), BlankLines: d.workspace.settings().KeepBlankLines}
}

// usable says that a snapshot is of this model.
func usable(s *infer.Snapshot, m *infer.Model) bool {
	return s != nil && s.Model == m.Fingerprint && s.Tokenizer == m.Tokenizer.Fingerprint() &&
		(s.State == nil || len(s.State) == m.Shape.StateLen())
}
