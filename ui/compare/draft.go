package compare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/ui/kit"
)

// A Draft is a variant while it is set up. Without a name it is called after
// what it differs in.
type Draft struct {
	chat.Variant               // its Model is not loaded yet
	File         kit.ModelFile // of the conversation's model, or of one that is loaded for the comparison
	preset       string        // name of its sampling; "" for parameters of its own
}

// OwnDraft is how a conversation answers now, with its model if that is known.
func OwnDraft(d interface{ Variant() chat.Variant }, model *infer.Model, presets []prompt.Preset) Draft {
	own := Draft{Variant: d.Variant(), File: kit.ModelFile{Current: true}}
	own.preset = presetOf(presets, own.Sampling)
	if model != nil {
		own.File.Name, own.File.Path = model.Name, model.Path
	}
	return own
}

// UsePreset gives the variant the parameters of a preset; the seed stays.
func (d *Draft) UsePreset(p prompt.Preset) {
	seed := d.Sampling.Seed
	d.Sampling, d.preset = p.Sampling, p.Name
	d.Sampling.Seed = seed
}

// UseModel gives the variant another model. States, adapters and mixes are of
// the one before.
func (d *Draft) UseModel(f kit.ModelFile) {
	if f.Path == d.File.Path && f.Current == d.File.Current {
		return
	}
	d.File, d.Base, d.Adapter, d.Mix = f, turn.State{}, turn.Adapter{}, turn.Mix{}
}

// ofOtherModel says that the model of a draft is loaded for it.
func (d *Draft) ofOtherModel() bool { return d.File.Name != "" && !d.File.Current }

// What is said where there is nothing.
const (
	ownModel  = "own model"
	noState   = "bare"
	noAdapter = "no adapter"
	noMix     = "no mix"
)

func (d *Draft) modelName() string   { return kit.OneLineOr(d.File.Name, ownModel) }
func (d *Draft) baseName() string    { return kit.OneLineOr(d.Base.Name, noState) }
func (d *Draft) adapterName() string { return kit.OneLineOr(d.Adapter.Name, noAdapter) }
func (d *Draft) mixName() string     { return kit.OneLineOr(d.Mix.String(), noMix) }

func (d *Draft) samplingName() string { return kit.OneLineOr(d.preset, kit.FormatSampling(d.Sampling)) }

func (d *Draft) seedName() string {
	if d.Sampling.Seed == 0 {
		return "seed next"
	}
	return fmt.Sprintf("seed %d", d.Sampling.Seed)
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

// nameDrafts makes variants of drafts, each with a name of its own.
func nameDrafts(drafts []Draft) []chat.Variant {
	differ := func(what func(*Draft) string) bool {
		return slices.ContainsFunc(drafts[1:], func(d Draft) bool { return what(&d) != what(&drafts[0]) })
	}
	var parts []func(*Draft) string
	for _, what := range []func(*Draft) string{(*Draft).modelName, (*Draft).baseName, (*Draft).adapterName, (*Draft).mixName, (*Draft).samplingName, (*Draft).seedName} {
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
			name = kit.OneLineOr(strings.Join(words, ", "), "variant")
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

// takeNextSeeds are the same variants with seeds that none of them had. Those
// without a seed of their own get a fresh one anyway.
func takeNextSeeds(variants []chat.Variant) []chat.Variant {
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
