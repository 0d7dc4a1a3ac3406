package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rookery/infer"
	"rookery/infer/sampler"
)

// A Preset is a named set of sampling parameters.
type Preset struct {
	Name, About string
	Sampling    sampler.Params
}

// Presets are those for a model, the default one first, and a person's own.
func Presets(m *infer.Model, own ...Preset) []Preset {
	return append(FamilyPresets(FamilyOf(m)), own...)
}

// FamilyPresets are those of a family of models, the default one first.
func FamilyPresets(f Family) []Preset {
	switch f {
	case FamilyDemo:
		return demoPresets()
	case FamilyG1:
		return g1Presets()
	default:
		return worldPresets()
	}
}

// OwnPreset is one that a person made. Seed and banned tokens are not part of it.
func OwnPreset(name string, p sampler.Params) Preset {
	p.Seed, p.Ban, p.Bias = 0, nil, nil
	return Preset{Name: name, About: "Your own", Sampling: p}
}

// CheckPresetName says why a preset of a person's own cannot have a name, or nil.
func CheckPresetName(name string) error {
	const most = 40 // characters
	switch {
	case name == "":
		return errors.New("a preset needs a name")
	case utf8.RuneCountInString(name) > most:
		return fmt.Errorf("a preset's name has at most %d characters", most)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("a preset's name must be of characters that can be seen")
	}
	for _, p := range slices.Concat(demoPresets(), worldPresets(), g1Presets()) {
		if strings.EqualFold(p.Name, name) {
			return fmt.Errorf("%q is a preset that comes with the program: choose another name", name)
		}
	}
	return nil
}

// params takes temperature, top_p, presence, frequency and decay, the order
// in which model cards give them.
func params(t, topP, presence, frequency, decay float32) sampler.Params {
	return sampler.Params{Temperature: t, TopP: topP, Presence: presence, Frequency: frequency, Decay: decay}
}

// demoPresets begins with what the embedded model's own samples were drawn with.
func demoPresets() []Preset {
	return []Preset{
		{"story", "As the model was tried out", params(0.8, 0.9, 0, 0, 0.996)},
		{"calm", "Fewer surprises", params(0.5, 0.7, 0, 0, 0.996)},
		{"wild", "More surprises, less sense", params(1.2, 0.95, 0.2, 0.2, 0.996)},
		greedyPreset(),
	}
}

// worldPresets are of the public World chat and question demonstrations.
func worldPresets() []Preset {
	return []Preset{
		{"chat", "Conversation", params(1, 0.3, 0.5, 0.5, 0.996)},
		{"answers", "Questions and answers", params(1, 0.2, 0.4, 0.4, 0.996)},
		{"creative", "Stories and ideas", params(1.2, 0.5, 0.4, 0.4, 0.996)},
		{"summary", "Extracts and summaries", params(1, 0.2, 0.1, 0, 0.996)},
		greedyPreset(),
	}
}

// g1Presets are those the G1 models are published with.
func g1Presets() []Preset {
	return []Preset{
		{"default", "Conversation", params(1, 0.5, 2, 0.2, 0.99)},
		{"creative", "Stories and ideas", params(1, 0.6, 2, 0.2, 0.99)},
		{"comprehensive", "Thorough answers", params(1, 0.3, 2, 0.2, 0.99)},
		{"conservative", "Close to the likeliest", params(0.4, 0.4, 1, 0.1, 0.99)},
		{"reasoning", "Mathematics and code, with thinking", params(0.3, 0.3, 0, 0, 0.996)},
		greedyPreset(),
	}
}

func greedyPreset() Preset {
	return Preset{"greedy", "Always the likeliest token", params(0, 1, 0, 0, 0.996)}
}

// FindPreset finds a preset, or gives the first, which is the default.
func FindPreset(m *infer.Model, name string, own []Preset) Preset {
	presets := Presets(m, own...)
	name = cmp.Or(name, SpecOf(m).Preset)
	for _, p := range presets {
		if p.Name == name {
			return p
		}
	}
	return presets[0]
}

// AddPreset returns a list with a preset in the place of one of its name.
func AddPreset(list []Preset, p Preset) []Preset {
	others := slices.DeleteFunc(slices.Clone(list), func(q Preset) bool { return q.Name == p.Name })
	return append(others, p)
}
