package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// A Recipe is a text that becomes a state.
type Recipe struct {
	Name   string
	Source string // where the text came from, for people
	Text   string
	System bool // it is a system prompt and not a document
}

// ErrNoText says that there is nothing to bake.
var ErrNoText = errors.New("there is no text to read")

// Bake reads a text from the zero state, in chunks between the tokens of
// what else runs, and keeps the state after it. progress may be nil. When ctx
// ends the reading is stopped and nothing is kept.
func (l *Library) Bake(ctx context.Context, e Engine, r Recipe, progress func(infer.Progress)) (turn.State, error) {
	t := templateOf(e.Model())
	tokens := t.recipe(r)
	if len(tokens) == 0 {
		return turn.State{}, ErrNoText
	}
	name, err := l.free(ctx, r.Name) // before the work
	if err != nil {
		return turn.State{}, err
	}
	snap, err := read(ctx, e, infer.Request{Tokens: tokens, Label: "baking " + name}, progress)
	if err != nil {
		return turn.State{}, fmt.Errorf("baking %q: %w", name, err)
	}
	return l.Add(ctx, statefile.State{
		Name: name, Kind: statefile.Baked, Source: r.Source, Model: snap.Model, ModelName: t.name,
		Shape: statefile.ShapeOf(e.Model()), Tokens: tokens, Created: time.Now(), Snapshot: snap,
	})
}

// recipe is the tokens of a text to be baked, without the separator after it:
// the first prompt of a conversation brings that.
func (t template) recipe(r Recipe) []int32 {
	if r.System {
		if text := cleanText(r.Text); text != "" {
			return t.tok.Encode(nil, systemSays+text)
		}
		return nil
	}
	return t.tok.Encode(nil, strings.TrimSpace(unixLines(r.Text)))
}

// read reads the tokens of a request, draws nothing, and returns the state
// after them as a library keeps it: without what only an answer needs.
func read(ctx context.Context, e Engine, r infer.Request, progress func(infer.Progress)) (*infer.Snapshot, error) {
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
	end := stream.Ending()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case end.Err != nil:
		return nil, end.Err
	case end.Reason == infer.ReasonCancelled:
		return nil, infer.ErrClosed
	}
	return bare(end.Snapshot), nil
}

// bare is a snapshot with the state alone.
func bare(s *infer.Snapshot) *infer.Snapshot {
	return &infer.Snapshot{Model: s.Model, Tokenizer: s.Tokenizer, Adapter: s.Adapter, Position: s.Position, State: s.State}
}

// SaveState keeps the state after an answer in the library, as the
// conversation would go on from it. It blocks.
func (d *Dialogue) SaveState(ctx context.Context, id turn.ID, name string) (turn.State, error) {
	a, title, err := d.reader(id)
	if err != nil {
		return turn.State{}, err
	}
	l, e := d.workspace.library, d.workspace.engine
	if name, err = l.free(ctx, name); err != nil {
		return turn.State{}, err
	}
	s, err := a.ready(ctx)
	if err != nil {
		return turn.State{}, err
	}
	snap := s.from
	if snap == nil || len(s.tokens) > 0 {
		adapter := a.way.adapter
		if snap, err = read(ctx, e, infer.Request{From: s.request(adapter), Tokens: s.tokens, Adapter: adapter, AnyAdapter: true, Label: "keeping " + name}, nil); err != nil {
			return turn.State{}, fmt.Errorf("keeping the state %q: %w", name, err)
		}
	}
	return l.Add(ctx, statefile.State{
		Name: name, Kind: statefile.Saved, Source: title, Model: snap.Model, ModelName: a.template.name,
		Adapter: snap.Adapter, AdapterName: d.workspace.adapters.name(ctx, snap.Adapter),
		Shape: statefile.ShapeOf(e.Model()), Tokens: a.line.Tokens(), Created: time.Now(), Snapshot: bare(snap),
	})
}

// reader is what finds the state after an answer, and the conversation's title.
func (d *Dialogue) reader(id turn.ID) (*answer, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.tree.nodes[id]
	switch {
	case d.loading:
		return nil, "", ErrLoading
	case d.run != nil && d.run.turn.ID == id:
		return nil, "", ErrBusy
	case n == nil:
		return nil, "", ErrNothing
	case n.turn.Role != turn.RoleAssistant:
		return nil, "", errors.New("the state after a prompt waits for its answer: choose the answer")
	}
	return d.looker(id), d.conv.Title, nil
}
