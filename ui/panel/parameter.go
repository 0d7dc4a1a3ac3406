package panel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rookery/infer/sampler"
)

// A parameter is one row of the sampling panel.
type parameter struct {
	name string
	help string
	// show is the value as a person reads it.
	show func(p sampler.Params) string
	// share is the value on a scale from 0 to 1, for a bar; nil draws none.
	share func(p sampler.Params) float64
	// put sets the value to a place on that scale; nil if it has none.
	put func(p *sampler.Params, share float64)
	// step changes the value by n fine steps, or coarse ones.
	step func(p *sampler.Params, n int, coarse bool)
	// parse sets the value that was typed; nil if none can be.
	parse func(p *sampler.Params, text string) error
}

// A knob is a parameter that is a decimal number.
type knob struct {
	at           func(*sampler.Params) *float32
	fine, coarse float64
	least, most  float64 // what the arrows reach
	full         float64 // where the bar is full
	zero         string  // what to call zero, if not 0
	digits       int
}

func (k knob) parameter(name, help string) parameter {
	return parameter{
		name: name, help: help,
		show: func(p sampler.Params) string {
			v := float64(*k.at(&p))
			if v == 0 && k.zero != "" {
				return k.zero
			}
			return strconv.FormatFloat(v, 'f', max(k.digits, decimals(v)), 64)
		},
		share: func(p sampler.Params) float64 { return float64(*k.at(&p)) / k.full },
		put: func(p *sampler.Params, share float64) {
			v := math.Round(share*k.full/k.fine) * k.fine
			*k.at(p) = float32(math.Round(min(max(v, k.least), k.most)*1e6) / 1e6)
		},
		step: func(p *sampler.Params, n int, coarse bool) {
			by := k.fine
			if coarse {
				by = k.coarse
			}
			// Land on multiples of the step, whatever was typed before.
			v := float64(*k.at(p)) / by
			if n > 0 {
				v = math.Floor(v+1e-4) + float64(n)
			} else {
				v = math.Ceil(v-1e-4) + float64(n)
			}
			*k.at(p) = float32(math.Round(min(max(v*by, k.least), k.most)*1e6) / 1e6)
		},
		parse: func(p *sampler.Params, text string) error {
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				return fmt.Errorf("%q is not a number", text)
			}
			*k.at(p) = float32(v)
			return nil
		},
	}
}

// decimals is how many digits v needs after the point, up to four.
func decimals(v float64) int {
	s := strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0")
	return len(s) - strings.IndexByte(s, '.') - 1
}

// knobs are the numeric parameters in the order in which they apply.
var knobs = []parameter{
	knob{
		at:   func(p *sampler.Params) *float32 { return &p.Temperature },
		fine: 0.05, coarse: 0.25, most: 5, full: 2, zero: "greedy", digits: 2,
	}.parameter("temperature", "How freely to choose: 0 always takes the likeliest token, 1 follows the model, more surprises."),
	knob{
		at:   func(p *sampler.Params) *float32 { return &p.TopP },
		fine: 0.01, coarse: 0.1, most: 1, full: 1, digits: 2,
	}.parameter("top_p", "Choose only among the likeliest tokens that together have this probability; 1 is all."),
	{
		name: "top_k", help: "Choose only among this many of the likeliest tokens; off is all.",
		show: func(p sampler.Params) string {
			if p.TopK == 0 {
				return "off"
			}
			return strconv.Itoa(p.TopK)
		},
		share: func(p sampler.Params) float64 { return float64(p.TopK) / 200 },
		put:   func(p *sampler.Params, share float64) { p.TopK = int(math.Round(share * 200)) },
		step: func(p *sampler.Params, n int, coarse bool) {
			if coarse {
				n *= 10
			}
			p.TopK = min(max(p.TopK+n, 0), 10_000)
		},
		parse: func(p *sampler.Params, text string) error {
			v, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%q is not a whole number", text)
			}
			p.TopK = v
			return nil
		},
	},
	knob{
		at:   func(p *sampler.Params) *float32 { return &p.Presence },
		fine: 0.05, coarse: 0.5, least: -5, most: 5, full: 3, digits: 2,
	}.parameter("presence", "What a token loses once it has occurred: more keeps the text moving on."),
	knob{
		at:   func(p *sampler.Params) *float32 { return &p.Frequency },
		fine: 0.05, coarse: 0.5, least: -5, most: 5, full: 3, digits: 2,
	}.parameter("frequency", "What a token loses for every time it occurred: more avoids repetition."),
	knob{
		at:   func(p *sampler.Params) *float32 { return &p.Decay },
		fine: 0.001, coarse: 0.01, most: 1, full: 1, digits: 3,
	}.parameter("decay", "What is left of the counts of occurrences after each token; 1 never forgets."),
}

// modes are what the sampling modes do.
var modes = [...]string{
	sampler.ModeRWKV:  "Penalties, top_p and top_k on the model's own probabilities, then temperature.",
	sampler.ModePip:   "As the rwkv package for Python does it, to the letter.",
	sampler.ModeRapid: "As Rapid-Sampling does it: temperature first, then top_k and top_p together.",
}
