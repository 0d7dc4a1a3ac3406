package chat

import (
	"errors"
	"reflect"
	"slices"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
)

// ForkAlternatives opens a conversation for each of the answers that wait for Keep, or
// for those of only, in their order: the line up to the answer, in the way of
// its variant, named after it; those of other models are read by the
// conversations' before their next answer. All must have ended. The answers wait for Keep
// as before.
func (k *Workspace) ForkAlternatives(from *Dialogue, only ...turn.ID) ([]*Dialogue, error) {
	ids, variants, err := from.endedRows()
	if err != nil {
		return nil, err
	}
	var forks []*Dialogue
	for i, id := range ids {
		if len(only) > 0 && !slices.Contains(only, id) {
			continue
		}
		line, err := from.lineTo(id)
		if err != nil {
			return nil, err
		}
		if variants[i].Model == nil {
			line.take(variants[i], prompt.TemplateOf(k.engine.Model()))
		}
		f := k.fork(line, i)
		if name := variants[i].Name; name != "" {
			_ = f.SetTitle(line.conversation.Title + " · " + name) // it is open and idle
		}
		forks = append(forks, f)
	}
	k.signal()
	return forks, nil
}

// endedRows are the answers that wait for Keep, with their variants.
func (d *Dialogue) endedRows() (ids []turn.ID, variants []Variant, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.choice
	switch {
	case c == nil || c.chosen:
		return nil, nil, errNoChoice
	case len(c.running) > 0:
		return nil, nil, ErrBusy
	}
	for _, id := range c.rows {
		ids, variants = append(ids, id), append(variants, c.answers[id].variant)
	}
	return ids, variants, nil
}

var errNoChoice = errors.New("there are no answers to choose from")

// take makes the line that of a conversation that has always answered in the
// way of a variant.
func (f *forking) take(v Variant, t prompt.Template) {
	c := &f.conversation
	own := c.Base
	c.Base, c.Adapter, c.Mix = v.Base.ID, v.Adapter.Fingerprint, v.Mix
	f.base, f.adapter = library.BaseOf(&v.Base), v.Adapter.Name
	if v.Sampling.Seed = c.Sampling.Seed; !reflect.DeepEqual(v.Sampling, c.Sampling) {
		c.Sampling, c.Preset = v.Sampling, ""
	}
	if v.Base.ID == own || len(f.turns) == 0 {
		return
	}
	now := f.rendering
	if now.Begins = f.base.Beginning(); now.Begins == prompt.AfterText {
		now.System, c.System = "", ""
	}
	f.turns[0] = t.ReopenTurn(f.turns[0], f.rendering, now)
	for i := range f.turns {
		f.turns[i].Base = v.Base.Name
	}
	for i := range f.turns[:len(f.turns)-1] { // states of another base
		f.turns[i].History = turn.History{}
		f.of[i], f.held[i], f.unsaved[i] = 0, (*infer.Snapshot)(nil), false
	}
}
