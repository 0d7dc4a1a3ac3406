package sampler

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Mode selects a sampling definition.
type Mode uint8

// The modes: our default in the RWKV order, and the two parity modes.
//
// ModeRWKV: a seen token's penalty is presence + frequency*N. The softmax is
// untempered; top_p keeps the smallest set of likeliest tokens whose
// probabilities sum up to top_p or more, with all that tie with the last;
// top_k keeps the first k, ties by the smaller id; then p^(1/T). Temperature 0
// draws the likeliest token, the smallest id of several.
//
// ModePip is the rwkv package's: as ModeRWKV, with its two quirks. Tokens for
// which Sampler.Exempt holds count 0 occurrences, but their presence is
// charged. Temperature 0 is top_p 0 at temperature 1, so that ties are drawn
// from. In three points it is better than the package. Occurrences are float32,
// not float64. Ties at top_k go to the smaller id, where the package leaves
// them to its sorting. And where the package's sum of rounded probabilities
// never reaches a top_p of nearly 1, it keeps the likeliest alone; here all
// are kept.
//
// ModeRapid is Rapid-Sampling's: a token's first occurrence is charged
// presence and each later one frequency, all decaying. The temperature is
// applied first; top_k and top_p apply to the same softmax, whichever is
// stricter; and the tokens at the cutoff share what is left of top_p, or of
// the k places. A top_p of 0 is a top_k of 1. Unlike the original, frequency
// is charged when presence is 0, and temperature 0 is greedy as in ModeRWKV.
const (
	ModeRWKV  Mode = iota // penalties, softmax, top_p, top_k, then temperature
	ModePip               // as the public rwkv pip package, its quirks included
	ModeRapid             // as Rapid-Sampling: temperature first, top_k and top_p on one softmax
)

var modeNames = [...]string{"rwkv", "pip", "rapid"}

// String is the mode's name in configurations: "rwkv", "pip" or "rapid".
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode is the inverse of Mode.String.
func ParseMode(name string) (Mode, error) {
	for m, n := range modeNames {
		if n == name {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("unknown sampling mode %q; there are rwkv, pip and rapid", name)
}

// Params are the sampling parameters of one row. The zero Temperature is greedy.
type Params struct {
	Mode        Mode
	Temperature float32
	TopK        int     // 0: off
	TopP        float32 // 1 (or 0 with greedy): off
	Presence    float32
	Frequency   float32
	Decay       float32 // of the occurrence counts, per token
	Seed        uint64
	Ban         []int32 // tokens never drawn
}

// Bounds of a temperature that is not greedy. Below the lower one the
// likeliest token has all the probability, so it is greedy.
const (
	minTemperature = 0.001
	maxTemperature = 1000
)

// Validate says in one line what is wrong with the parameters, or nil.
func (p Params) Validate() error {
	switch {
	case int(p.Mode) >= len(modeNames):
		return errors.New("the sampling mode must be rwkv, pip or rapid")
	case !(p.Temperature >= 0 && p.Temperature <= maxTemperature):
		return fmt.Errorf("temperature must be between 0 and %d, not %v", maxTemperature, p.Temperature)
	case p.TopK < 0:
		return fmt.Errorf("top_k must be 0 (off) or more, not %d", p.TopK)
	case !(p.TopP >= 0 && p.TopP <= 1):
		return fmt.Errorf("top_p must be between 0 and 1, not %v", p.TopP)
	case !finite(p.Presence):
		return fmt.Errorf("the presence penalty must be a number, not %v", p.Presence)
	case !finite(p.Frequency):
		return fmt.Errorf("the frequency penalty must be a number, not %v", p.Frequency)
	case !(p.Decay >= 0 && p.Decay <= 1):
		return fmt.Errorf("the penalty decay must be between 0 and 1, not %v", p.Decay)
	}
	for _, id := range p.Ban {
		if id < 0 {
			return fmt.Errorf("a banned token must be a token id, not %d", id)
		}
	}
	return nil
}

func finite(x float32) bool {
	return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
}

// greedy says whether only the likeliest token can be drawn, the smallest id of several.
func (p Params) greedy() bool { return p.Temperature < minTemperature && p.Mode != ModePip }

// effective are the parameters as the draw uses them. Those that Validate
// refuses make it greedy, with the bans alone. The bans are in order, each once.
func (p Params) effective() Params {
	ban := slices.Clone(p.Ban)
	slices.Sort(ban)
	ban = slices.DeleteFunc(slices.Compact(ban), func(id int32) bool { return id < 0 })
	if p.Validate() != nil {
		return Params{Ban: ban}
	}
	p.Ban = ban
	switch {
	case p.Mode == ModePip && p.Temperature < minTemperature:
		p.Temperature, p.TopP = 1, 0
	case p.Mode == ModeRapid && p.TopP == 0:
		p.TopK, p.TopP = 1, 1
	}
	return p
}
