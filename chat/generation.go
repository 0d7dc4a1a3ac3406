package chat

import (
	"context"
	"slices"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// A generation has the generation settings of an answer, its sampling aside: what can
// differ between answers to one prompt.
type generation struct {
	base        turn.ID // the library's state that the line begins from; 0: the zero state
	baseName    string  // for people
	baseKind    statefile.Kind
	adapter     string // fingerprint; "" is none
	adapterName string
	mix         turn.Mix
	second      *SecondModel // the model; nil is the conversations'
}

// settings are those of the conversation. The caller holds mu.
func (d *Dialogue) settings() generation {
	v := d.variant()
	return v.settings()
}

// stateKey is what decides what the states become: answers whose keys are equal can
// share what they read.
func (w *generation) stateKey() string {
	key := w.base.String() + "\n" + w.adapter + "\n" + w.mix.Key()
	if w.second != nil {
		key += "\n" + w.second.engine.Model().Fingerprint
	}
	return key
}

// useSettings gives an answer its settings; own are the conversation's. What was read
// with other settings is of no use to it: with another base or model all of the line,
// with another adapter or mix the prompt.
func (a *answer) useSettings(w, own generation) {
	a.settings, a.anew, a.skipsPrompt = w, 0, false
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
		a.anew = len(a.path)
	case w.adapter != own.adapter:
		a.anew = 1
	case !w.mix.Same(own.mix):
		a.skipsPrompt = true
	}
	a.prompted = a.prompted || a.anew > 0 || a.skipsPrompt // the prompt's snapshot is not this one's
}

// fits is a snapshot of the line as this answer can go on from it, or nil: a
// mix needs all its states, with the weights of now. Their adapter is that of
// the request.
func (a *answer) fits(s *infer.Snapshot) *infer.Snapshot {
	m := a.settings.mix
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
	m, model := a.settings.mix, a.model()
	if !m.Active() {
		return from, nil
	}
	use := a.adapterInUse()
	members, err := a.d.workspace.library.LoadMembers(ctx, m, model, use.Adapter, use.Name)
	if err != nil {
		return nil, err
	}
	out := infer.Snapshot{Model: model.Fingerprint, Tokenizer: model.Tokenizer.Fingerprint(), Adapter: use.Adapter}
	if from != nil {
		out = *from
	}
	out.Weight, out.Members, out.Logits = m.Weights()[0], members, nil
	return &out, nil
}
