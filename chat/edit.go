package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// ErrNotAnAnswer is what operations on answers say of prompts.
var ErrNotAnAnswer = errors.New("that turn is a prompt: choose an answer")

// EditLast replaces the last user turn by a sibling with the new text and answers it.
func (d *Dialogue) EditLast(text string) error {
	return d.act(text, func() error {
		last := d.tree.prompt(d.conv.Head)
		if last == nil {
			return ErrNothing
		}
		d.ask(last.turn.Parent, text)
		return nil
	})
}

// EditTurn gives any user turn a sibling with the new text and answers it. The
// state before it is kept with its parent, so that the new turn alone is read.
func (d *Dialogue) EditTurn(id turn.ID, text string) error {
	return d.act(text, func() error {
		n := d.tree.nodes[id]
		switch {
		case n == nil:
			return missing(id)
		case n.turn.Role != turn.RoleUser:
			return errors.New("that turn is an answer: edit it as one")
		}
		d.ask(n.turn.Parent, text)
		return nil
	})
}

func missing(id turn.ID) error { return fmt.Errorf("turn %d is not in this conversation", id) }

// EditAnswer gives an answer a sibling with the new text, of which the tokens
// up to the first changed byte are the old ones. With goOn the model continues
// at its end; otherwise nothing is read before the next prompt.
func (d *Dialogue) EditAnswer(id turn.ID, text string, goOn bool) error {
	return d.act(text, func() error {
		n, err := d.answerNode(id)
		if err != nil {
			return err
		}
		if goOn {
			text = strings.TrimRight(text, " \t") // the model brings the space itself
		}
		t, header := d.template(), d.headerOf(n)
		if !strings.HasPrefix(text, header) {
			return fmt.Errorf("the prompt has begun this answer with %q: leave that, or edit the prompt", header)
		}
		var old []int32
		if t.OwnsTokens(n.turn) {
			old = n.turn.Tokens
		}
		d.graft(n, t.EditTokens(old, header, text), text, goOn)
		return nil
	})
}

// Branch gives an answer a sibling that has its tokens up to an index, then
// another token, and goes on from there; a token that ends the answer ends it.
func (d *Dialogue) Branch(id turn.ID, index int, token int32) error {
	return d.act("branch", func() error {
		n, err := d.answerNode(id)
		if err != nil {
			return err
		}
		t := d.template()
		switch {
		case !t.OwnsTokens(n.turn):
			return otherTokens(n.turn)
		case index < 0 || index > len(n.turn.Tokens):
			return fmt.Errorf("the answer has tokens 0 to %d", len(n.turn.Tokens)-1)
		case token < 0 || int(token) >= d.workspace.engine.Model().Shape.Vocab:
			return fmt.Errorf("the model has no token %d", token)
		}
		tokens, stopped := t.CutAtStop(slices.Concat(n.turn.Tokens[:index], []int32{token}), d.workspace.stops(t))
		d.graft(n, tokens, t.AnswerText(d.headerOf(n), tokens), !stopped)
		return nil
	})
}

// otherTokens refuses what needs an answer's own tokens.
func otherTokens(t turn.Turn) error {
	return fmt.Errorf("this answer is of %s, whose tokens the running model does not have: retry it first", t.ModelName)
}

// answerNode finds an answer. The caller holds mu.
func (d *Dialogue) answerNode(id turn.ID) (*node, error) {
	n := d.tree.nodes[id]
	switch {
	case n == nil:
		return nil, missing(id)
	case n.turn.Role != turn.RoleAssistant:
		return nil, ErrNotAnAnswer
	}
	return n, nil
}

// headerOf is the beginning of an answer that its prompt gave.
func (d *Dialogue) headerOf(n *node) string {
	prompt := d.tree.nodes[n.turn.Parent]
	if prompt == nil {
		return ""
	}
	return strings.TrimLeft(d.template().FindHeader(prompt.turn.Tokens), " ")
}

// graft adds a sibling of an answer, makes it the head, and goes on with it if
// it is open. It is saved before: what a person wrote is worth keeping whatever
// comes of the rest.
func (d *Dialogue) graft(beside *node, tokens []int32, text string, open bool) {
	t := d.template()
	sampling := d.conv.Sampling
	sampling.Seed = d.nextSeed(d.tree.nodes[beside.turn.Parent])
	tn := turn.Turn{
		ID: turn.NewID(), Parent: beside.turn.Parent, Role: turn.RoleAssistant, Text: text, Tokens: tokens,
		Open: open, Reason: infer.ReasonStop, Sampling: sampling, Model: t.Model, ModelName: t.ModelName,
		Base: beside.turn.Base, Adapter: beside.turn.Adapter, AdapterID: beside.turn.AdapterID, Edited: true, Created: time.Now(),
		History: d.editedHistory(&beside.turn, tokens),
	}
	if open {
		tn.Reason = infer.ReasonCancelled
	}
	tn.Recall = d.recall(d.headerOf(beside), text)
	if err := d.tree.add(tn); err != nil { // its parent is a turn of the tree
		panic("chat: " + err.Error())
	}
	d.goOnFrom(tn.ID)
	d.commitAnswer(tn.ID, nil)
	if open {
		d.goOn(d.tree.nodes[tn.ID])
		return
	}
	d.reline()
}

// editedHistory is what an answer with other tokens is to read: it is read as it
// was up to the first change, and from there with the adapter in use. The caller
// holds mu.
func (d *Dialogue) editedHistory(t *turn.Turn, tokens []int32) turn.History {
	if !t.History.Known(d.template().Model) {
		return turn.History{}
	}
	prompt := d.lineLen(t.Parent, t.History)
	h := t.History.Prefix(prompt + sameTokens(t.Tokens, tokens))
	return h.Then(turn.Run{Tokens: prompt + len(tokens) - h.Len(), Adapter: d.conv.Adapter, Name: d.adapter})
}

// sameTokens is how many tokens two turns begin with together.
func sameTokens(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
