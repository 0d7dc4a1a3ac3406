package kit

import (
	"fmt"
	"math"
	"strconv"

	"rookery/infer/sampler"
	"rookery/ui/keys"
)

// SetParameter puts a number where it belongs in sampling parameters and returns
// the parameter's name.
func SetParameter(p *sampler.Params, id keys.ID, value string) (name string, err error) {
	a, _ := keys.Find(id)
	switch id {
	case keys.Seed:
		p.Seed, err = strconv.ParseUint(value, 10, 64)
	case keys.TopK:
		p.TopK, err = strconv.Atoi(value)
	default:
		var f float64
		f, err = strconv.ParseFloat(value, 32)
		if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = strconv.ErrRange
		}
		*map[keys.ID]*float32{
			keys.Temperature: &p.Temperature, keys.TopP: &p.TopP, keys.Presence: &p.Presence,
			keys.Frequency: &p.Frequency, keys.Decay: &p.Decay,
		}[id] = float32(f)
	}
	if err != nil {
		return "", fmt.Errorf("%q is not a number that fits: write %s", value, a.Usage())
	}
	return string(id), nil
}

// FormatSampling writes sampling parameters but for the seed: temp=0.8 top_p=0.5.
func FormatSampling(p sampler.Params) string {
	text := fmt.Sprintf("temp=%.3g", p.Temperature)
	add := func(name string, value, off float32) {
		if value != off {
			text += fmt.Sprintf(" %s=%.3g", name, value)
		}
	}
	add("top_p", p.TopP, 1)
	add("top_k", float32(p.TopK), 0)
	add("presence", p.Presence, 0)
	add("frequency", p.Frequency, 0)
	if p.Presence != 0 || p.Frequency != 0 {
		add("decay", p.Decay, 1)
	}
	return text
}
