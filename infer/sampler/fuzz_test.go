package sampler

import (
	"encoding/binary"
	"math"
	"testing"
)

func FuzzSample(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 192, 127}, uint8(0), float32(1), float32(.5), 0, float32(.5), float32(.5), float32(.9), uint64(1))
	f.Add([]byte{0, 0, 128, 127, 0, 0, 128, 255}, uint8(1), float32(0), float32(1), 1, float32(0), float32(0), float32(0), uint64(2))
	f.Add(make([]byte, 400), uint8(2), float32(.7), float32(.9), 3, float32(1), float32(-1), float32(1), uint64(3))
	f.Fuzz(func(t *testing.T, raw []byte, mode uint8, temperature, topP float32, topK int, presence, frequency, decay float32, seed uint64) {
		logits := make([]float32, len(raw)/4)
		for i := range logits {
			logits[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		p := Params{
			Mode: Mode(mode), Temperature: temperature, TopK: topK, TopP: topP,
			Presence: presence, Frequency: frequency, Decay: decay, Seed: seed, Ban: []int32{3, int32(seed)},
		}
		s := New(len(logits), p)
		for range 3 {
			if p.Validate() == nil {
				checkDraw(t, "fuzz", s, logits)
				continue
			}
			token, logProb := s.Sample(logits)
			if token < 0 || int(token) >= max(1, len(logits)) || logProb > 0 || logProb != logProb {
				t.Fatalf("drew %d of %d at %v", token, len(logits), logProb)
			}
			s.Observe(token)
		}
	})
}
