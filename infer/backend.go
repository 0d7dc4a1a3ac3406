package infer

import (
	"strings"

	"rookery/infer/adapter"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// A Model describes loaded weights for the engine and the program around it.
type Model struct {
	Name        string // what a person calls it: the file's base name, or "rookery-demo"
	Path        string // empty for the embedded model
	Shape       rwkv.Shape
	Fingerprint string // identifies the weights and how they were rounded; the engine refuses snapshots of another one
	Tokenizer   *tokenizer.Tokenizer
	Metadata    map[string]string // what the file says about itself, by the names that GGUF has for it; may be nil
}

// Weights is the part of the fingerprint that identifies the weights as the file
// has them.
func (m *Model) Weights() string { return Weights(m.Fingerprint) }

// Weights is a Model.Fingerprint without how the weights were rounded. A
// fingerprint of another form is returned as it is.
func Weights(fingerprint string) string {
	const hash = 32 // hexadecimal digits of checkpoint.File.Fingerprint
	if weights, _, ok := strings.Cut(fingerprint, "-"); ok && len(weights) == hash {
		return weights
	}
	return fingerprint
}

// A Slot is the place of one recurrent state in a Backend's pool.
type Slot int32

// A Row is one sequence's entry in a step.
type Row struct {
	Slot   Slot
	Tokens []int32 // 1 or more, consumed in order; a decoding row brings one
	// Sampler draws a token from the logits after the last of Tokens. It is nil for
	// a chunk of a prompt that is not the last one. The backend only draws with it
	// (Top, Sample); the engine calls Observe.
	Sampler *sampler.Sampler
	Adapter AdapterID // of an AdapterBackend; 0 is none
	Top     int       // how many candidates to return with the token
	// Members is for a Mixer and a row with a Sampler: this row and the next Members
	// ones, which have no Sampler, are a mix.
	Members int
	Gate    float32   // of a row of a mix: its weight divided by the sum of all weights
	Logits  []float32 // if not nil, it has Shape.Vocab values and receives the raw logits after the last of Tokens
}

// A Drawn is what a step returns for one row with a Sampler.
type Drawn struct {
	Token          int32
	LogProb        float32             // natural logarithm, under the model's own softmax (temperature 1, no penalties, no truncation)
	Top            []sampler.Candidate // the Row.Top likeliest, most likely first
	MemberLogprobs []float32           // of a mix: as LogProb, by each of its rows alone, this one first
}

// Memory is what a backend occupies, in bytes, besides adapters.
type Memory struct {
	Weights int64
	States  int64 // of the whole slot pool
	Scratch int64
}

// A Backend runs one model on one device. Its methods are called by one
// goroutine at a time. A slot's state changes only through Step, WriteSlot,
// CopySlot and ZeroSlot.
type Backend interface {
	// Name says what runs the model, for people: "cpu, 2 threads, AVX-512 VNNI, int8".
	Name() string
	// Slots is the size of the pool; valid slots are 0 to Slots()-1.
	Slots() int
	// MaxTokens bounds the sum of the rows' tokens in one step.
	MaxTokens() int
	// Step feeds every row's tokens to its slot and, for rows with a Sampler,
	// draws one token into drawn[i]. No slot occurs twice. len(drawn) ==
	// len(rows). On error the states of all rows are undefined.
	Step(rows []Row, drawn []Drawn) error
	// ReadSlot copies the state in the canonical layout (rwkv.Shape.StateLen
	// float32 values) to dst; WriteSlot is its inverse. Both are exact.
	ReadSlot(s Slot, dst []float32) error
	WriteSlot(s Slot, src []float32) error
	CopySlot(dst, src Slot) error
	ZeroSlot(s Slot) error
	Memory() Memory
	Close() error
}

// A SideReader is a Backend whose states can be read while it steps.
type SideReader interface {
	Backend
	// ReadSlotBeside is ReadSlot for one goroutine beside the one that calls the
	// other methods. No other method is called for the slot meanwhile.
	ReadSlotBeside(s Slot, dst []float32) error
}

// An AdapterID is the number of an adapter that a backend has loaded. 0 is none.
type AdapterID int32

// An AdapterBackend is a Backend whose rows can use different adapters in the same
// step. An adapter changes nothing for rows without it.
type AdapterBackend interface {
	Backend
	// LoadAdapter loads an adapter beside the weights. merged makes a copy of the
	// weights with the adapter in them: faster if most rows use the adapter, at the
	// cost of the memory.
	LoadAdapter(a *adapter.Adapter, merged bool) (AdapterID, error)
	// DropAdapter frees the memory of an adapter that no row names any more.
	DropAdapter(id AdapterID) error
	// AdapterBytes is the memory of a loaded adapter.
	AdapterBytes(id AdapterID) int64
}

// A LogitsKeeper is a Backend that keeps the logits of a step until the next one.
// The engine reads the few that it needs, instead of having every step copy those
// of every row.
type LogitsKeeper interface {
	Backend
	// ReadLogits copies the raw logits after the last token of row number row of the
	// last Step, which had a Sampler, to dst, which has Shape.Vocab values. If logits
	// have a NaN, so has Drawn.LogProb: the engine does not read them to find out.
	ReadLogits(row int, dst []float32) error
}

// A Mixer is a LogitsKeeper that draws for mixes. It draws the token of a row with
// Members from the combined logits of the mix, as Blend defines them. ReadLogits
// has the own logits of each row.
type Mixer interface {
	LogitsKeeper
	// MaxMembers is how many rows may follow the first one of a mix.
	MaxMembers() int
}
