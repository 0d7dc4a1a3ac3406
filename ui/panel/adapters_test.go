package panel

import (
	"testing"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/rwkv"
	"rookery/ui/kit"
)

// testAdapters knows one that comes with the model and one of a file, which
// the conversation uses at half strength.
func testAdapters(t *testing.T) *Adapters {
	t.Helper()
	shape := rwkv.Shape{Version: rwkv.V7, Layers: 2, Embed: 64, FFN: 256, Vocab: 1000, Ranks: rwkv.Ranks{8, 8, 8, 8}}
	a := turn.Adapter{Name: "poet", Path: "/models/poet.pth", Fingerprint: "half", Options: adapter.Options{Alpha: 32, Strength: 0.5}}
	read := &adapter.Adapter{Name: "poet", Fingerprint: "half", Shape: shape, Layers: make([]adapter.Layer, 2)}
	for i := range read.Layers {
		read.Layers[i].Deltas = map[adapter.Target]*adapter.Delta{}
		for _, at := range adapter.LayerTargets(shape) {
			read.Layers[i].Deltas[at] = &adapter.Delta{Form: adapter.LoRA, Out: 64, In: 64, Rank: 16, Scale: 1}
		}
	}
	p := NewAdapters(testTheme(t))
	p.Set([]turn.RegisteredAdapter{
		{Adapter: turn.Adapter{Name: "demo-pirate"}},
		{Adapter: a, Loaded: &infer.LoadedAdapter{Adapter: read, Bytes: 3 << 20, Rows: 1}},
	}, nil, 100<<20)
	p.SetUse(7, "half", "poet × 0.5")
	p.at = 2
	return p
}

func TestAdaptersByMouse(t *testing.T) {
	p := testAdapters(t)
	p.SetSize(60, 20)
	type wish struct {
		name     string
		strength float32
	}
	var last wish
	p.use = func(a turn.Adapter, strength float32) kit.Action {
		last = wish{a.Name, strength}
		return toPrompt
	}
	asks := func(a kit.Action, want wish) {
		t.Helper()
		if a == nil || last != want {
			t.Errorf("asks for %+v, want %+v", last, want)
		}
	}
	x, width := p.barPlace()
	asks(p.Press(x+width-1, 2), wish{"poet", strongest})
	asks(p.Drag(x, 2), wish{})
	p.SetUse(7, "", "")
	if p.Drag(x+1, 2) == nil || last.name != "poet" || last.strength == 0 {
		t.Errorf("back from there it asks for %+v", last)
	}
	p.Release()
	if p.Drag(x+3, 2) != nil {
		t.Error("the slider moves after it was let go")
	}
	asks(p.Press(2, 0), wish{})
	asks(p.Press(2, 1), wish{"demo-pirate", 1})
}
