package ui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/ui/kit"
)

// A draft is a variant while it is set up. Without a name it is called after
// what it differs in.
type draft struct {
	chat.Variant
	preset string    // name of its sampling; "" for parameters of its own
	model  ModelFile // the conversation's, or one that is loaded for the comparison
}

// What is said where there is nothing.
const (
	ownModel  = "own model"
	noState   = "bare"
	noAdapter = "no adapter"
	noMix     = "no mix"
)

func (d *draft) modelName() string   { return otherwise(d.model.Name, ownModel) }
func (d *draft) baseName() string    { return otherwise(d.Base.Name, noState) }
func (d *draft) adapterName() string { return otherwise(d.Adapter.Name, noAdapter) }
func (d *draft) mixName() string     { return otherwise(d.Mix.String(), noMix) }

func (d *draft) samplingName() string { return otherwise(d.preset, parameters(d.Sampling)) }

func (d *draft) seedName() string {
	if d.Sampling.Seed == 0 {
		return "seed next"
	}
	return fmt.Sprintf("seed %d", d.Sampling.Seed)
}

func otherwise(text, none string) string {
	if text == "" {
		return none
	}
	return kit.OneLine(text)
}

// parameters writes sampling parameters as parseSampling reads them.
func parameters(p sampler.Params) string {
	var parts []string
	for _, f := range sampler.Fields {
		if f.Recipe && f.Command != "" && !f.IsOff(p) {
			parts = append(parts, fmt.Sprintf("%s=%.3g", f.Command, f.Number(p)))
		}
	}
	return strings.Join(parts, " ")
}

// presetOf names the preset that has these parameters, the seed aside.
func presetOf(presets []prompt.Preset, p sampler.Params) string {
	for _, preset := range presets {
		if preset.Sampling.Seed = p.Seed; reflect.DeepEqual(preset.Sampling, p) {
			return preset.Name
		}
	}
	return ""
}

// parseSampling changes the parameters that a text names: "temp=0.8 top_p=0.5".
func parseSampling(p sampler.Params, text string) (sampler.Params, error) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, value, ok := strings.Cut(part, "=")
		f, known := sampler.FindField(name)
		if !ok || !known || f.Command == "" {
			return p, fmt.Errorf("%q is not a sampling parameter: write temp=0.8 top_p=0.5", part)
		}
		if err := f.Parse(&p, value); err != nil {
			return p, err
		}
	}
	return p, nil
}

// parameterNames lists the parameters that parseSampling is asked for.
func parameterNames() string {
	var names []string
	for _, f := range sampler.Fields {
		if f.Recipe && f.Command != "" {
			names = append(names, f.Command)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// samplingSummary is the parameters that people look at first, in one line.
func samplingSummary(p sampler.Params) string {
	var parts []string
	for _, f := range p.Brief() {
		parts = append(parts, fmt.Sprintf("%s %.4g", f.Command, f.Number(p)))
	}
	return strings.Join(parts, " · ")
}

// namedVariants are the drafts as variants, each with a name of its own.
func namedVariants(drafts []draft) []chat.Variant {
	differ := func(what func(*draft) string) bool {
		return slices.ContainsFunc(drafts[1:], func(d draft) bool { return what(&d) != what(&drafts[0]) })
	}
	var parts []func(*draft) string
	for _, what := range []func(*draft) string{(*draft).modelName, (*draft).baseName, (*draft).adapterName, (*draft).mixName, (*draft).samplingName, (*draft).seedName} {
		if differ(what) {
			parts = append(parts, what)
		}
	}
	variants := make([]chat.Variant, len(drafts))
	taken := map[string]bool{}
	for i := range drafts {
		name := drafts[i].Name
		if name == "" {
			var words []string
			for _, what := range parts {
				words = append(words, what(&drafts[i]))
			}
			name = otherwise(strings.Join(words, ", "), "variant")
		}
		own := name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", own, n)
		}
		taken[name] = true
		variants[i] = drafts[i].Variant
		variants[i].Name = name
	}
	return variants
}

// nextSeeds are the same variants with seeds that none of them had. Those
// without a seed of their own get a fresh one anyway.
func nextSeeds(variants []chat.Variant) []chat.Variant {
	var low, high uint64
	for _, v := range variants {
		if s := v.Sampling.Seed; s != 0 {
			if low == 0 || s < low {
				low = s
			}
			high = max(high, s)
		}
	}
	next := slices.Clone(variants)
	for i := range next {
		if next[i].Sampling.Seed != 0 {
			next[i].Sampling.Seed += high - low + 1
		}
	}
	return next
}
