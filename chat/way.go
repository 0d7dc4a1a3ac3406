package chat

import (
	"context"
	"slices"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// A way is how an answer is made, its sampling aside: what can differ between
// answers to one prompt.
type way struct {
	base        turn.ID // the library's state that the line begins from; 0: the zero state
	baseName    string  // for people
	baseKind    statefile.Kind
	adapter     string // fingerprint; "" is none
	adapterName string
	mix         turn.Mix
	second      *SecondModel // the model; nil is the conversations'
}

// way is that of the conversation. The caller holds mu.
func (d *Dialogue) way() way {
	v := d.variant()
	return v.way()
}

// reads is what of a way decides what its states become: ways that are equal
// in it can share what they read.
func (w *way) reads() string {
	key := w.base.String() + "\n" + w.adapter + "\n" + w.mix.Key()
	if w.second != nil {
		key += "\n" + w.second.engine.Model().Fingerprint
	}
	return key
}

// on gives an answer a way; own is the conversation's. What other ways have
// read is of no use to it: with another base or model all of the line, with
// another adapter or mix the prompt.
func (a *answer) on(w, own way) {
	a.way, a.based, a.anew = w, w.base != own.base, nil
	a.turn.Base, a.turn.Adapter, a.turn.AdapterID, a.turn.Mix = w.baseName, w.adapterName, w.adapter, w.mix
	if w.second != own.second {
		a.template = prompt.TemplateOf(a.model())
		a.turn.ModelName = a.template.ModelName
		if !slices.Contains(prompt.ThinkModes(a.model()), a.think) {
			a.think = turn.ThinkOff
		}
	}
	switch {
	case w.base != own.base || w.second != own.second:
		a.strange = len(a.path)
		a.anew = a.anewOf(a.strange)
	case w.adapter != own.adapter:
		a.strange = a.fresh() // what nobody has read, it is the first to read
		a.anew = a.anewOf(a.strange)
	case !w.mix.Same(own.mix):
		a.strange = 1
	}
	a.prompted = a.prompted || a.strange > 0 // the prompt's snapshot is not this one's
}

// open renders the beginning of the line for the base of the answer's way,
// where that is not the conversation's. It comes after prepare.
func (a *answer) open() {
	if a.based {
		a.reopen()
	}
}

// reopen renders the beginning of the line for the base of the answer's way.
func (a *answer) reopen() {
	was := a.rendering
	a.rendering.Begins = library.Base{Name: a.way.baseName, Kind: a.way.baseKind}.Beginning()
	if a.rendering.Begins == prompt.AfterText {
		a.rendering.System = "" // as for conversations that begin from it, see setBase
	}
	a.path = slices.Clone(a.path)
	a.path[0] = a.template.ReopenTurn(a.path[0], was, a.rendering)
}

// looker is what finds the states along the line to a turn, of the
// conversation's own run alone. The caller holds mu.
func (d *Dialogue) looker(to turn.ID) *answer {
	w := d.way()
	w.mix = turn.Mix{}
	return &answer{d: d, template: d.template(), rendering: d.rendering(), path: d.path(to), way: w}
}

// origin is the prefix of a line of the conversation before its first token,
// read with one adapter alone.
func (a *answer) origin(adapter string) infer.Prefix {
	base := a.way.base.String() + "\n" + adapter
	if a.way.mix.Active() {
		base += "\n" + a.way.mix.Key()
	}
	return infer.PrefixFrom(a.model(), base)
}

// fits is a snapshot of the line as this answer can go on from it, or nil: a
// mix needs all its states, with the weights of now. Their adapter is that of
// the request, see adaptedTo.
func (a *answer) fits(s *infer.Snapshot) *infer.Snapshot {
	m := a.way.mix
	if s == nil || !m.Active() && len(s.Members) == 0 {
		return s
	}
	if !m.Holds(s) {
		return nil
	}
	out := *s
	out.Weight, out.Members = 0, nil
	if m.Active() {
		out.Weight, out.Members = m.Weights()[0], m.Reweight(s.Members)
	}
	return &out
}

// mixed adds the states of the mix to where the line begins.
func (a *answer) mixed(ctx context.Context, from *infer.Snapshot) (*infer.Snapshot, error) {
	m, model := a.way.mix, a.model()
	if !m.Active() {
		return from, nil
	}
	adapter, name := a.using()
	voices, err := a.d.workspace.library.LoadMembers(ctx, m, model, adapter, name)
	if err != nil {
		return nil, err
	}
	out := infer.Snapshot{Model: model.Fingerprint, Tokenizer: model.Tokenizer.Fingerprint(), Adapter: adapter}
	if from != nil {
		out = *from
	}
	out.Weight, out.Members, out.Logits = m.Weights()[0], voices, nil
	return &out, nil
}
