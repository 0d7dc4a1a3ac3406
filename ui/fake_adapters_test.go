package ui

import (
	"context"
	"errors"
	"fmt"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/rwkv"
)

// fakeAdapters is an adapter registry in memory that records what it is asked.
type fakeAdapters struct {
	rack  []turn.RegisteredAdapter
	asked []string
	wrong error
}

// aRacked is an adapter of the adapter registry that is loaded.
func aRacked(name, path string, rows int) turn.RegisteredAdapter {
	a := turn.Adapter{Name: name, Path: path, Fingerprint: "print of " + name}
	read := &adapter.Adapter{Name: name, Fingerprint: a.Fingerprint, Shape: rwkv.Shape{Version: rwkv.V7, Layers: 1, Embed: 64, FFN: 256, Vocab: 100}, Layers: make([]adapter.Layer, 1)}
	read.Layers[0].Deltas = map[adapter.Target]*adapter.Delta{adapter.Value: {Form: adapter.LoRA, Out: 64, In: 64, Rank: 16, Scale: 2}}
	return turn.RegisteredAdapter{Adapter: a, Loaded: &infer.LoadedAdapter{Adapter: read, Bytes: 3 << 20, Rows: rows}}
}

func (k *fakeAdapters) did(format string, args ...any) error {
	k.asked = append(k.asked, fmt.Sprintf(format, args...))
	return k.wrong
}

func (k *fakeAdapters) Adapters(context.Context) ([]turn.RegisteredAdapter, error) {
	return k.rack, k.wrong
}

func (k *fakeAdapters) TakeAdapter(_ context.Context, name string, o adapter.Options) (turn.Adapter, error) {
	if name == "lora.pth" && o.Alpha == 0 {
		return turn.Adapter{}, &adapter.QuestionError{Path: name, Asked: "alpha", Problem: "a LoRA file does not say its alpha"}
	}
	if name == "bone.pth" && o.Blocks == "" {
		return turn.Adapter{}, &adapter.QuestionError{Path: name, Asked: "blocks", Problem: "its shapes fit two forms", Choices: []string{"column", "row"}}
	}
	if name == "broken" {
		return turn.Adapter{}, errors.New("adapter broken: its file is cut short")
	}
	if name == "nobody" {
		return turn.Adapter{}, errors.New("there is no adapter nobody")
	}
	return turn.Adapter{Name: name, Fingerprint: "print of " + name, Options: o}, k.did("find %s alpha %v blocks %q strength %v", name, o.Alpha, o.Blocks, o.Strength)
}

func (d *fakeDialogue) SetAdapter(a turn.Adapter) error {
	d.v.Conversation.Adapter, d.v.Adapter = a.Fingerprint, ""
	if a.Name != "" {
		d.v.Adapter = a.Title()
	}
	d.v.Version++
	return d.did("adapter %s", d.v.Adapter)
}
