package chat

import (
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
)

// Ask makes the request for one answer without a conversation. header is the
// beginning of the answer that the prompt gave, such as "<think"; it belongs
// before what is generated.
func Ask(m *infer.Model, d Defaults, prompt string) (r infer.Request, header string) {
	return ask(m, d, fromZero, prompt)
}

// AskFrom is Ask where the answer begins from a state of the library.
func AskFrom(m *infer.Model, d Defaults, s turn.State, prompt string) (r infer.Request, header string, err error) {
	from, tokens, err := BeginFrom(s, m)
	if err != nil {
		return r, "", err
	}
	r, header = ask(m, d, baseOf(&s).beginning(), prompt)
	r.From, r.Tokens = from, slices.Concat(tokens, r.Tokens)
	return r, header, nil
}

func ask(m *infer.Model, d Defaults, b beginning, prompt string) (r infer.Request, header string) {
	t := templateOf(m)
	r = infer.Request{
		Tokens: t.prompt(prompting{
			first: true, begins: b, system: d.System, text: prompt, think: d.Think, blankLines: d.KeepBlankLines,
		}),
		Sampling:  presetNamed(m, d.Preset, d.Presets).Sampling,
		MaxTokens: d.MaxTokens,
		Stops:     d.Stops,
	}
	if d.Sampling != nil {
		r.Sampling = *d.Sampling
	}
	if r.Stops == nil {
		r.Stops = Stops(m)
	}
	r.Sampling.Ban = append(slices.Clone(r.Sampling.Ban), t.banned()...)
	return r, t.header(d.Think)
}
