package sampler

import (
	"fmt"
	"strings"
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

// A Choice is one value of a parameter that is chosen from a list.
type Choice struct {
	Name  string
	About string // what it does, in one sentence
}

// Modes are the modes by their number.
var Modes = []Choice{
	ModeRWKV:  {"rwkv", "Penalties, top_p and top_k on the model's own probabilities, then temperature."},
	ModePip:   {"pip", "As the rwkv package for Python does it, to the letter."},
	ModeRapid: {"rapid", "As Rapid-Sampling does it: temperature first, then top_k and top_p together."},
}

// String is the mode's name in configurations: "rwkv", "pip" or "rapid".
func (m Mode) String() string {
	if int(m) < len(Modes) {
		return Modes[m].Name
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode is the inverse of Mode.String.
func ParseMode(name string) (Mode, error) {
	var names []string
	for m, c := range Modes {
		if c.Name == name {
			return Mode(m), nil
		}
		names = append(names, c.Name)
	}
	return 0, fmt.Errorf("%q is no sampling mode: choose %s", name, strings.Join(names, ", "))
}

// MarshalText and UnmarshalText write and read the mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}
