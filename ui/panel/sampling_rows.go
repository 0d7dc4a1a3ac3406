package panel

import (
	"errors"
	"strconv"

	"rookery/infer/sampler"
)

// The rows that are no plain numbers: the preset, the seed, the mode and the
// banned tokens.

var errSeed = errors.New("a seed is a whole number from 0 up")

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

func (s *Sampling) seedRow() parameter {
	return parameter{
		name: "seed",
		help: "Fresh draws another one for every answer; any other makes answers repeatable. Enter keeps that of the latest answer.",
		show: func(p sampler.Params) string {
			if p.Seed == 0 {
				return "fresh"
			}
			return strconv.FormatUint(p.Seed, 10)
		},
		step: func(p *sampler.Params, n int, _ bool) {
			if n > 0 || p.Seed > 0 {
				p.Seed += uint64(n)
			}
		},
		parse: func(p *sampler.Params, text string) error {
			v, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return errSeed
			}
			p.Seed = v
			return nil
		},
	}
}

func modeRow() parameter {
	return parameter{
		name: "mode",
		show: func(p sampler.Params) string { return p.Mode.String() },
		step: func(p *sampler.Params, n int, _ bool) {
			p.Mode = sampler.Mode((int(p.Mode) + n + len(modes)) % len(modes))
		},
	}
}

func (s *Sampling) banRow() parameter {
	return parameter{
		name: "banned",
		show: func(p sampler.Params) string {
			if len(p.Ban) == 0 {
				return "none"
			}
			return plural(len(p.Ban), "token")
		},
	}
}
