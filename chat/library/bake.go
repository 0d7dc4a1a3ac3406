package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// An Engine is what a library needs of one.
type Engine interface {
	Model() *infer.Model
	Submit(infer.Request) (*infer.Stream, error)
}

// A Recipe is a text that becomes a state.
type Recipe struct {
	Name   string
	Source string // where the text came from, for people
	Text   string
	System bool // it is a system prompt and not a document
}

// ErrNoText says that there is nothing to bake.
var ErrNoText = errors.New("there is no text to read")

// Bake reads a text from the zero state, in chunks between the steps of
// other requests, and keeps the state after it. progress may be nil. When ctx
// ends the reading is stopped and nothing is kept.
func (l *Library) Bake(ctx context.Context, e Engine, r Recipe, progress func(infer.Progress)) (turn.State, error) {
	t := prompt.TemplateOf(e.Model())
	encode := t.EncodeDocument
	if r.System {
		encode = t.EncodeSystem
	}
	tokens := encode(r.Text)
	if len(tokens) == 0 {
		return turn.State{}, ErrNoText
	}
	name, err := l.CheckName(ctx, r.Name) // before the work
	if err != nil {
		return turn.State{}, err
	}
	snap, err := ReadState(ctx, e, infer.Request{Tokens: tokens, Label: "baking " + name}, progress)
	if err != nil {
		return turn.State{}, fmt.Errorf("baking %q: %w", name, err)
	}
	if slices.ContainsFunc(snap.State, func(v float32) bool { return v-v != 0 }) {
		return turn.State{}, fmt.Errorf("baking %q: %w", name, infer.ErrNaN)
	}
	return l.Add(ctx, statefile.State{
		Name: name, Kind: statefile.Baked, Source: r.Source, Model: snap.Model, ModelName: t.ModelName,
		Shape: statefile.ShapeOf(e.Model()), Tokens: tokens, Created: time.Now(), Snapshot: snap,
	})
}

// ReadState reads the tokens of a request, draws nothing, and returns the state
// after them as a BareSnapshot. progress may be nil.
func ReadState(ctx context.Context, e Engine, r infer.Request, progress func(infer.Progress)) (*infer.Snapshot, error) {
	r.Logits = true
	stream, err := e.Submit(r)
	if err != nil {
		return nil, err
	}
	cancelled := ctx.Done()
	for done := false; !done; {
		select {
		case <-cancelled:
			cancelled = nil
			stream.Cancel()
		case <-stream.Changed():
		case <-stream.Done():
			done = true
		}
		if progress != nil {
			progress(stream.Progress())
		}
	}
	end, err := stream.Wait(ctx)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	return BareSnapshot(end.Snapshot), nil
}

// BareSnapshot is a snapshot with the state alone: without logits, the
// sampler's memory and what else only an answer needs.
func BareSnapshot(s *infer.Snapshot) *infer.Snapshot {
	return &infer.Snapshot{Model: s.Model, Tokenizer: s.Tokenizer, Adapter: s.Adapter, Position: s.Position, State: s.State}
}
