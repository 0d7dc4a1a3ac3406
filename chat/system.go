package chat

import (
	"rookery/infer"

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
	if cleanText(was.System) != cleanText(text) {
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

func (d *Dialogue) reopened(t template, tn turn.Turn, was string) turn.Turn {
	tokens, ok := t.reopen(tn.Tokens, was, d.conv.System, d.base.beginning())
	if !ok {
		tokens = t.rerender(tn, d.rendering())
		tn.Model, tn.ModelName = t.model, t.name
	}
	tn.Tokens = tokens
	return tn
}

// template is how the engine's model is spoken to.
func (d *Dialogue) template() template { return templateOf(d.workspace.engine.Model()) }

func (d *Dialogue) rendering() rendering {
	return rendering{system: d.conv.System, begins: d.base.beginning(), blankLines: d.workspace.settings().KeepBlankLines}
}

// usable says that a snapshot is of this model.
func usable(s *infer.Snapshot, m *infer.Model) bool {
	return s != nil && s.Model == m.Fingerprint && s.Tokenizer == m.Tokenizer.Fingerprint() &&
		(s.State == nil || len(s.State) == m.Shape.StateLen())
}
