package rwkv_test

import (
	"testing"

	"rookery/infer/rwkv"
)

// The parts of the canonical state lie one after the other and fill it.
func TestStateLayout(t *testing.T) {
	next := 0
	for layer := range small.Layers {
		for _, part := range []struct {
			name      string
			at, count int
		}{
			{"att shift", small.AttShift(layer), small.Embed},
			{"ffn shift", small.FFNShift(layer), small.Embed},
			{"WKV", small.WKV(layer), small.Heads * small.HeadSize * small.HeadSize},
		} {
			if part.at != next {
				t.Errorf("%s of layer %d begins at %d, want %d", part.name, layer, part.at, next)
			}
			next += part.count
		}
	}
	if got := small.StateLen(); got != next {
		t.Errorf("StateLen = %d, want %d", got, next)
	}
}

// The released models, by the sizes that their authors publish.
func TestReleasedSizes(t *testing.T) {
	for _, c := range []struct {
		layers, embed, w, a, v, g int
		params                    int64
		name                      string
	}{
		{12, 768, 64, 64, 32, 128, 191_034_624, "0.1B"},
		{24, 1024, 64, 64, 32, 128, 450_767_872, "0.4B"},
		{24, 2048, 96, 96, 64, 256, 1_527_404_544, "1.5B"},
		{32, 2560, 96, 96, 64, 320, 2_947_735_040, "2.9B"},
	} {
		s := rwkv.Shape{
			Version: rwkv.V7, Layers: c.layers, Embed: c.embed, Heads: c.embed / 64, HeadSize: 64, FFN: 4 * c.embed,
			Vocab: 65536, RankW: c.w, RankA: c.a, RankV: c.v, RankG: c.g,
		}
		if got := s.Params(); got != c.params {
			t.Errorf("%s: %d parameters, want %d", c.name, got, c.params)
		}
	}
}

func TestVersionString(t *testing.T) {
	for v, want := range map[rwkv.Version]string{rwkv.V7: "RWKV-7 (x070)", rwkv.Unknown: "an unknown architecture", 200: "an unknown architecture"} {
		if got := v.String(); got != want {
			t.Errorf("Version(%d) is %q, want %q", v, got, want)
		}
	}
}
