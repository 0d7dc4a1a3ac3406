package panel

import (
	"math"
	"strconv"
	"strings"

	"rookery/infer/sampler"
)

// A parameter is one row of the sampling panel.
type parameter struct {
	name  string
	field *sampler.Field // nil for the preset
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

// is says whether the row is of a field of a kind.
func (r parameter) is(kind sampler.Kind) bool { return r.field != nil && r.field.Kind() == kind }

// fieldRow is the row of a parameter of the sampler.
func fieldRow(f *sampler.Field) parameter {
	r := parameter{name: f.Name, field: f}
	switch f.Kind() {
	case sampler.Chosen:
		return chosenRow(r)
	case sampler.Tokens, sampler.Biased:
		return listRow(r)
	case sampler.Stream:
		return streamRow(r)
	}
	return sliderRow(r)
}

// sliderRow is the row of a number with a bar.
func sliderRow(r parameter) parameter {
	f, k := r.field, r.field.Slider
	r.parse = f.Parse
	r.show = func(p sampler.Params) string {
		v := f.Number(p)
		if v == 0 && f.Zero != "" {
			return f.Zero
		}
		return strconv.FormatFloat(v, 'f', max(k.Digits, decimals(v)), 64)
	}
	r.share = func(p sampler.Params) float64 { return f.Number(p) / k.Full }
	set := func(p *sampler.Params, v float64) {
		f.SetNumber(p, math.Round(min(max(v, k.Least), k.Most)*1e6)/1e6)
	}
	r.put = func(p *sampler.Params, share float64) { set(p, math.Round(share*k.Full/k.Fine)*k.Fine) }
	r.step = func(p *sampler.Params, n int, coarse bool) {
		by := k.Fine
		if coarse {
			by = k.Coarse
		}
		// Land on multiples of the step, whatever was typed before.
		v := f.Number(*p) / by
		if n > 0 {
			v = math.Floor(v+1e-4) + float64(n)
		} else {
			v = math.Ceil(v-1e-4) + float64(n)
		}
		set(p, v*by)
	}
	return r
}

// decimals is how many digits v needs after the point, up to four.
func decimals(v float64) int {
	s := strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0")
	return len(s) - strings.IndexByte(s, '.') - 1
}

// streamRow is the row of the seed.
func streamRow(r parameter) parameter {
	r.parse = r.field.Parse
	r.show = func(p sampler.Params) string {
		if p.Seed == 0 {
			return r.field.Zero
		}
		return r.field.Format(p)
	}
	r.step = func(p *sampler.Params, n int, _ bool) {
		if n > 0 || p.Seed > 0 {
			p.Seed += uint64(n)
		}
	}
	return r
}

// chosenRow is the row of the mode.
func chosenRow(r parameter) parameter {
	r.show = r.field.Format
	r.step = func(p *sampler.Params, n int, _ bool) {
		p.Mode = sampler.Mode((int(p.Mode) + n + len(r.field.Choices)) % len(r.field.Choices))
	}
	return r
}

// listRow is the row of banned or biased tokens.
func listRow(r parameter) parameter {
	if r.field.Kind() == sampler.Tokens {
		r.name = "banned"
	}
	r.show = func(p sampler.Params) string {
		if n := int(r.field.Number(p)); n > 0 {
			return plural(n, "token")
		}
		return r.field.Zero
	}
	return r
}

// presetRow is the row of the presets.
func (s *Sampling) presetRow() parameter {
	return parameter{
		name: "preset",
		show: func(sampler.Params) string {
			if s.preset == "" {
				return "own"
			}
			return s.preset
		},
		step: func(p *sampler.Params, n int, _ bool) {
			if len(s.presets) == 0 {
				return
			}
			i := s.presetIndex(s.preset)
			if i < 0 && n < 0 {
				i = 0
			}
			s.usePreset(p, (i+n+len(s.presets))%len(s.presets))
		},
	}
}
