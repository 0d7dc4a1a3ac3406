package chat

import (
	"context"
	"io"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
)

// An Engine is what chat needs of infer.Engine.
type Engine interface {
	Model() *infer.Model
	Submit(infer.Request) (*infer.Stream, error)
	Stats() infer.Stats
}

// Defaults are the settings of a new conversation.
type Defaults struct {
	System    string
	Preset    string          // "" chooses by model family
	Sampling  *sampler.Params // overrides the preset
	Think     ThinkMode
	MaxTokens int
	Stops     []string // nil: the model family's

	// KeepThoughts lets later turns remember what a thinking model thought.
	// Without it they read its answers alone, as it was trained.
	KeepThoughts bool
	// KeepBlankLines leaves blank lines in what a person writes. A blank line
	// separates turns, so that they are removed otherwise; indentation stays.
	KeepBlankLines bool
}

// A Desk is everything that is open.
type Desk struct{}

// NewDesk starts a desk. It owns store from here on.
func NewDesk(e Engine, store Store, d Defaults) *Desk { return &Desk{} }

// Changed has a value when any dialogue, or the set of them, has changed: a 1-slot signal for one reader.
func (k *Desk) Changed() <-chan struct{} { return nil }

// Engine is the engine in use.
func (k *Desk) Engine() Engine { return nil }

// SetDefaults changes the settings of conversations made from now on.
func (k *Desk) SetDefaults(d Defaults) {}

// Restore opens what was open last time, or one new conversation. It blocks.
func (k *Desk) Restore(ctx context.Context) ([]*Dialogue, int, error) { return nil, 0, nil }

// New opens a new, empty conversation. It is stored with its first turn.
func (k *Desk) New() *Dialogue { return nil }

// Open opens a stored conversation. It returns at once; the view says Loading until it is read.
func (k *Desk) Open(id ID) *Dialogue { return nil }

// Shut stops and saves a dialogue and forgets it; its conversation stays stored.
func (k *Desk) Shut(d *Dialogue) {}

// SaveLayout remembers the open dialogues in order.
func (k *Desk) SaveLayout(open []*Dialogue, active int) {}

// List returns the stored conversations. It blocks.
func (k *Desk) List(ctx context.Context) ([]Conversation, error) { return nil, nil }

// Delete removes a stored conversation. It blocks.
func (k *Desk) Delete(ctx context.Context, id ID) error { return nil }

// History returns the prompts sent, oldest first. It blocks.
func (k *Desk) History(ctx context.Context) ([]string, error) { return nil, nil }

// Close stops everything, saves it and closes the store. It blocks.
func (k *Desk) Close(ctx context.Context) error { return nil }

// Export writes the visible line of a conversation. It does not block on the engine.
func Export(w io.Writer, f Format, c Conversation, line []Turn) error { return nil }

// A Format is an export format.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// A Preset is a named set of sampling parameters.
type Preset struct {
	Name, About string
	Sampling    sampler.Params
}

// Presets are those for a model, the default one first.
func Presets(m *infer.Model) []Preset { return nil }

var _ = time.Second
