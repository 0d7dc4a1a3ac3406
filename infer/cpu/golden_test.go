package cpu

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A golden is the logits of the public reference implementation for synthetic
// weights; testdata/golden.py says how they were made.
type golden struct {
	Name                                string
	Version                             string // ID; empty: x070
	Layers, Embed, HeadSize, FFN, Vocab int
	Ranks                               rwkv.Ranks
	Seed                                uint64
	Stride                              int
	Tuned                               bool // it begins from a state
	Marks                               []mark
}

// A mark is every Stride-th logit after some tokens, and the standard
// deviation of all of them.
type mark struct {
	After  int
	Std    float64
	Logits string // base64 of little-endian float32
}

// floats decodes base64 of little-endian float32.
func floats(t *testing.T, text string) []float32 {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v
}

// readJSON reads a file of testdata.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func (g golden) shape() rwkv.Shape {
	version := rwkv.V7
	if g.Version != "" {
		version, _ = rwkv.VersionOf(g.Version)
	}
	return rwkv.Shape{
		Version: version, Layers: g.Layers, Embed: g.Embed, Heads: g.Embed / g.HeadSize, HeadSize: g.HeadSize,
		FFN: g.FFN, Vocab: g.Vocab, Ranks: g.Ranks,
	}
}

// goldenTokens are the tokens the reference read; the same as in golden.py.
func goldenTokens(n, vocab int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32((i*7919 + 13) % vocab)
	}
	return tokens
}

// logits feeds tokens to slot in one step and returns the logits after them.
func logits(t *testing.T, b *Backend, slot infer.Slot, tokens []int32) []float32 {
	t.Helper()
	row := infer.Row{Slot: slot, Tokens: tokens, Logits: make([]float32, b.model.shape.Vocab)}
	if err := b.Step([]infer.Row{row}, make([]infer.Drawn, 1)); err != nil {
		t.Fatal(err)
	}
	return row.Logits
}

// goldenError is the largest difference from the reference, relative to the
// standard deviation of the logits.
func goldenError(t *testing.T, b *Backend, g golden) float64 {
	t.Helper()
	worst := 0.0
	at := 0
	tokens := goldenTokens(g.Marks[len(g.Marks)-1].After, g.Vocab)
	for _, m := range g.Marks {
		got := logits(t, b, 0, tokens[at:m.After])
		at = m.After
		for i, want := range floats(t, m.Logits) {
			d := math.Abs(float64(got[i*g.Stride]-want)) / m.Std
			if !(d <= worst) { // also true for NaN
				worst = d
			}
		}
	}
	return worst
}

func synthetic(t testing.TB, shape rwkv.Shape, seed uint64, o Options) *Backend {
	t.Helper()
	b, err := Synthetic(context.Background(), shape, seed, o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b)
	return b
}

// tolerances are bounds on the largest difference from the fp32 reference, in
// standard deviations of the logits, over all shapes. Measured, 0.1B's shape
// being the worst: fp32 3e-6, fp16 0.002, bf16 0.014, int8 0.036.
var tolerances = map[kernel.Type]float64{
	kernel.F32:  1e-4,
	kernel.F16:  0.004,
	kernel.BF16: 0.03,
	kernel.Q8:   0.08,
}

func TestGolden(t *testing.T) {
	var goldens []golden
	readJSON(t, "testdata/golden.json", &goldens)
	for _, g := range goldens {
		t.Run(g.Name, func(t *testing.T) {
			large := g.Embed*g.Vocab > 1<<20
			if large && testing.Short() {
				t.Skip("skipped: takes seconds")
			}
			paths := kernel.Available()
			if large {
				paths = []kernel.Path{kernel.Best()}
			}
			eachVariant(t, paths, func(t *testing.T, path kernel.Path, typ kernel.Type) {
				b := synthetic(t, g.shape(), g.Seed, Options{Weights: typ.String(), ISA: path.String()})
				worst := goldenError(t, b, g)
				if bound := tolerances[typ]; !(worst <= bound) {
					t.Errorf("off by %.2g standard deviations, more than %.2g", worst, bound)
				}
				t.Logf("off by at most %.2g standard deviations", worst)
			})
		})
	}
}

// The older versions, in widths and head sizes of all kinds, after a prompt of 70
// tokens and after 1,000 more that come one by one. "make versions" runs it on other
// random weights, with the package itself.
func TestVersionsMatchTheReference(t *testing.T) {
	worstOf := map[string]float64{}
	defer func() {
		for _, version := range slices.Sorted(maps.Keys(worstOf)) {
			t.Logf("%s: off by at most %.2g standard deviations of the logits", version, worstOf[version])
		}
	}()
	var goldens []golden
	readJSON(t, cmp.Or(os.Getenv("VERSIONS_GOLDENS"), "testdata/versions.json"), &goldens)
	for _, g := range goldens {
		name := fmt.Sprintf("%s, %d layers of %d in heads of %d", g.Version, g.Layers, g.Embed, g.HeadSize)
		for _, path := range kernel.Available() {
			if path == kernel.AVX512 && kernel.Best() != path {
				continue // the same kernels as AVX512VNNI in fp32
			}
			t.Run(fmt.Sprintf("%s/%v", name, path), func(t *testing.T) {
				b := synthetic(t, g.shape(), g.Seed, Options{Threads: 1, Weights: "fp32", ISA: path.String()})
				if g.Tuned {
					beginTuned(t, b, g.Seed)
				}
				tokens := goldenTokens(g.Marks[len(g.Marks)-1].After, g.Vocab)
				got := [][]float32{logits(t, b, 0, tokens[:1]), logits(t, b, 0, tokens[1:70])}
				if path != kernel.Go || kernel.Best() == path { // beside others it takes too long
					for _, token := range tokens[70:] {
						got = append(got[:2], logits(t, b, 0, []int32{token}))
					}
				}
				worst := 0.0
				for i, m := range g.Marks[:len(got)] {
					for j, want := range floats(t, m.Logits) {
						if d := math.Abs(float64(got[i][j]-want)) / m.Std; !(d <= worst) {
							worst = d
						}
					}
				}
				if !(worst <= 1e-5) {
					t.Errorf("off by %.2g standard deviations, more than 1e-5", worst)
				}
				worstOf[g.Version] = max(worstOf[g.Version], worst)
			})
		}
	}
}

// beginTuned writes a tuned state to slot 0: [head, value, key] in files, as in the
// canonical layout.
func beginTuned(t *testing.T, b *Backend, seed uint64) {
	t.Helper()
	s := b.model.shape
	state := make([]float32, s.StateLen())
	for i := range s.Layers {
		first, last := s.StatePart(i, rwkv.PartWKV)
		spread(0, 1).fill(state[first:last], 0, last-first, hashName(rwkv.LayerName(i, "att.time_state"), seed))
	}
	if err := b.WriteSlot(0, state); err != nil {
		t.Fatal(err)
	}
}
