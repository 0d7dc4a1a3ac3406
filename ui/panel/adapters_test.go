package panel

import (
	"testing"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/rwkv"
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
	x, width := p.barPlace()
	got, ok := p.Press(x+width-1, 2).(UseAdapter)
	if !ok || got.Strength != strongest || got.Adapter.Name != "poet" {
		t.Errorf("the end of the fader asks for %+v", got)
	}
	if got, ok = p.Drag(x, 2).(UseAdapter); !ok || got.Adapter.Name != "" {
		t.Errorf("its beginning asks for %+v", got)
	}
	p.SetUse(7, "", "")
	if got, ok = p.Drag(x+1, 2).(UseAdapter); !ok || got.Adapter.Name != "poet" {
		t.Errorf("back from there it asks for %+v", got)
	}
	p.Release()
	if p.Drag(x+3, 2) != nil {
		t.Error("the fader moves after it was let go")
	}
	if got, ok = p.Press(2, 0).(UseAdapter); !ok || got.Adapter.Name != "" {
		t.Errorf("the first line asks for %+v", got)
	}
	if got, ok = p.Press(2, 1).(UseAdapter); !ok || got.Adapter.Name != "demo-pirate" || got.Strength != 1 {
		t.Errorf("the second line asks for %+v", got)
	}
}
