package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// BakeOnce is Bake, unless a state that fits the engine's model has read the same text
// already: that one is found again. hash names the text. found says that nothing was read.
func (l *Library) BakeOnce(ctx context.Context, e Engine, r Recipe, hash string, progress func(infer.Progress)) (s turn.State, found bool, err error) {
	if s, found, err = l.FindBaked(ctx, e.Model(), hash); found || err != nil {
		return s, found, err
	}
	if _, err = l.CheckName(ctx, r.Name); errors.Is(err, turn.ErrNameTaken) {
		r.Name += " " + e.Model().Name // by a state of another model
	}
	r.Source += hashMark + hash
	s, err = l.Bake(ctx, e, r, progress)
	return s, false, err
}

// hashMark stands before the hash of a text in the source of the state that has read it.
const hashMark = " · sha256 "

// FindBaked finds the state that has read the text of a hash with a model.
func (l *Library) FindBaked(ctx context.Context, m *infer.Model, hash string) (s turn.State, found bool, err error) {
	list, err := l.List(ctx)
	if err != nil {
		return s, false, err
	}
	i := slices.IndexFunc(list, func(s turn.State) bool {
		return s.Kind == statefile.Baked && strings.HasSuffix(s.Source, hashMark+hash) && s.Check(m) == nil
	})
	if i < 0 {
		return s, false, nil
	}
	return list[i], true, nil
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
