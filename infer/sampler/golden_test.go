package sampler

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// golden is testdata/golden.json; golden.py made it with the rwkv package.
type golden struct {
	Runs []goldenRun
	Mass struct {
		N   int
		FNV string
	}
}

type goldenRun struct {
	Seed                                          uint64
	Ban                                           []int32
	Temperature, TopP, Presence, Frequency, Decay float32
	TopK                                          int
	Steps                                         []struct {
		Token int32
		Probs map[int32]float64
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// stream is golden.py's generator.
func stream(seed uint64) func() uint64 {
	return func() uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33
	}
}

const goldenVocab = 64

// logits are those of every step, as golden.py makes them.
func (r goldenRun) logits() [][]float32 {
	next := stream(r.Seed)
	rows := make([][]float32, len(r.Steps))
	for i := range rows {
		rows[i] = make([]float32, goldenVocab)
		for j := range rows[i] {
			rows[i][j] = float32(float64(next())/(1<<31)*12 - 6)
		}
		for j := 49; j < 53; j++ {
			rows[i][j] += 4
		}
	}
	return rows
}

// The whole loop of the package, penalties, exemptions and bans included, must
// give each token the package's probability at each step.
func TestPipModeIsThePackage(t *testing.T) {
	for _, r := range readGolden(t).Runs {
		s := New(goldenVocab, Params{
			Mode: ModePip, Temperature: r.Temperature, TopK: r.TopK, TopP: r.TopP,
			Presence: r.Presence, Frequency: r.Frequency, Decay: r.Decay, Ban: r.Ban,
		})
		s.Exempt = func(id int32) bool { return id > 0 && PipExempt([]byte{byte(id - 1)}) }
		for i, logits := range r.logits() {
			step := r.Steps[i]
			for id, got := range probs(s, logits) {
				want := step.Probs[int32(id)]
				if (got == 0) != (want == 0) || math.Abs(got-want) > 1e-7+3e-6*want {
					t.Errorf("seed %d, step %d, token %d: probability %v, want %v", r.Seed, i, id, got, want)
				}
			}
			s.Observe(step.Token)
		}
	}
}

// probs are what the next draw gives each token.
func probs(s *Sampler, logits []float32) []float64 {
	p := make([]float64, len(logits))
	for _, c := range s.Top(logits, len(logits)) {
		p[c.Token] = float64(c.Prob)
	}
	return p
}

// A device's sampler has to give these very numbers.
func TestMassGolden(t *testing.T) {
	want := readGolden(t).Mass
	h := uint64(14695981039346656037) // FNV-1a over the masses
	for _, scale := range []float32{softmaxScale, temperedScale(1.7)} {
		next := stream(1)
		for range want.N {
			h = (h ^ mass(float32(next())*0x1p-25, 64, scale)) * 1099511628211
		}
	}
	if got := fmt.Sprintf("%016x", h); got != want.FNV {
		t.Errorf("the masses' hash is %s, want %s", got, want.FNV)
	}
}

func TestPipExempt(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "9": true, " ": true, "\t": true, " \t": true, "12": true, "0123456789": true,
		"": false, "21": false, "a": false, "\n": false, "  ": false, "1a": false, "\xff": false,
	} {
		if got := PipExempt([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
