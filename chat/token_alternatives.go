package chat

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
)

// A Candidate is a token that could have stood at a place of an answer.
type Candidate struct {
	Token int32
	Text  string  // its bytes; those of a part of a character are shown as \x..
	Model float64 // probability by the model alone
	Drawn float64 // probability of the draw: after penalties, truncation and temperature
	Taken bool    // it is the one that the answer has
}

// A token view keeps some states between its looks: at least two, one to look
// at and one to go on from, and more of small models.
const (
	scopeBytes  = 64 << 20
	scopeStates = 16
)

// scopeLimit is how many states of a model are kept.
func scopeLimit(m *infer.Model) int {
	const float = 4 // bytes
	return min(max(scopeBytes/(float*(m.Shape.StateLen()+m.Shape.Vocab)), 2), scopeStates)
}

// A scope is the states inside the answer that is looked at, by the number of
// its tokens that they have read.
type scope struct {
	turn   turn.ID
	tokens []int32 // of the turn, as it was: an answer may grow
	at     []int   // oldest look first
	states map[int]*infer.Snapshot
}

// Candidates looks at one token of an answer: the k likeliest at its place, and
// the token itself. Index len(Tokens) is what would come next. The state before
// the token is made again from the nearest one that there is, so that the
// probabilities are those of the draw; the parameters are those that the
// answer ended with. It blocks while the state is read.
func (d *Dialogue) Candidates(ctx context.Context, id turn.ID, index, k int) ([]Candidate, error) {
	d.mu.Lock()
	n, err := d.answerNode(id)
	if err == nil && index > len(n.turn.Tokens) || index < 0 {
		err = fmt.Errorf("the answer has no token %d", index)
	}
	if err != nil {
		d.mu.Unlock()
		return nil, err
	}
	t := n.turn
	a := &answer{d: d, turn: t, template: d.template(), rendering: d.rendering(), base: d.conv.Base, path: d.path(t.Parent), sampling: t.Sampling, prompted: true}
	w := d.settings()
	switch {
	case t.AdapterID != "" || t.Adapter == "":
		w.adapter, w.adapterName = t.AdapterID, t.Adapter
	case w.adapterName != t.Adapter:
		w.adapter = "" // it is not known any more which one it was
	}
	w.mix = t.Mix
	a.useSettings(w, d.settings())
	a.seen, a.anew = &t, 0 // the turn says itself how its line was read
	d.mu.Unlock()
	if !a.template.OwnsTokens(t) {
		return nil, otherTokens(t)
	}
	if err := d.workspace.adapters.Need(ctx, a.settings.adapter); err != nil {
		return nil, err
	}
	s, err := a.stateAt(ctx, index)
	if err != nil {
		return nil, err
	}
	return a.candidates(s, index, k), nil
}

// stateAt is the state after so many tokens of the answer, with its logits.
func (a *answer) stateAt(ctx context.Context, index int) (*infer.Snapshot, error) {
	from, at := a.d.looked(a.turn, index)
	s, err := a.reachStart(ctx, a.turn.Tokens[:index], from, at)
	if err != nil {
		return nil, err
	}
	out, err := a.logitsAt(ctx, s)
	if err == nil {
		a.d.look(a.turn, index, out)
	}
	return out, err
}

// looked is the nearest state that the last looks have left, and how many
// tokens of the answer it has read; nil if there is none.
func (d *Dialogue) looked(t turn.Turn, index int) (*infer.Snapshot, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scope.turn != t.ID || !slices.Equal(d.scope.tokens, t.Tokens) {
		d.scope = scope{turn: t.ID, tokens: t.Tokens, states: map[int]*infer.Snapshot{}}
	}
	for at := index; at >= 0; at-- {
		if s := d.scope.states[at]; s != nil && usable(s, d.workspace.engine.Model()) {
			return s, at
		}
	}
	return nil, 0
}

// look leaves a state for the next looks.
func (d *Dialogue) look(t turn.Turn, index int, s *infer.Snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &d.scope
	if c.turn != t.ID || c.states[index] != nil {
		return
	}
	c.states[index] = s
	if c.at = append(c.at, index); len(c.at) > scopeLimit(d.workspace.engine.Model()) {
		delete(c.states, c.at[0])
		c.at = slices.Delete(c.at, 0, 1)
	}
}

// candidates are the likeliest tokens after a state, and the one that was taken.
func (a *answer) candidates(s *infer.Snapshot, index, k int) []Candidate {
	o := s.Distribution()
	if index < len(a.turn.Tokens) {
		o.Token = a.turn.Tokens[index]
	}
	return under(a.model(), o, a.drawing(nil), k)
}

// Tokens are an answer's tokens as TokenText writes them.
func (d *Dialogue) Tokens(turnID turn.ID) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.answerNode(turnID)
	if err != nil {
		return nil, err
	}
	t := d.template()
	if !t.OwnsTokens(n.turn) {
		return nil, otherTokens(n.turn)
	}
	texts := make([]string, len(n.turn.Tokens))
	for i, id := range n.turn.Tokens {
		texts[i] = prompt.TokenText(t.Tokenizer.Bytes(id))
	}
	return texts, nil
}
