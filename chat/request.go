package chat

import (
	"cmp"
	"slices"
	"time"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// Request makes the request for one answer to a question, without a
// conversation. The answer begins from a state of the library, or with nil
// from the zero state. header is the beginning of the answer that the prompt
// gives, such as "<think"; it belongs before what is generated.
func (d Defaults) Request(m *infer.Model, q prompt.Question, from *turn.State) (r infer.Request, header string, err error) {
	t, read := prompt.TemplateOf(m), prompt.Rendering{System: d.System, BlankLines: d.KeepBlankLines}
	var text []int32
	if from != nil {
		if r.From, text, err = library.BeginFrom(*from, m); err != nil {
			return r, "", err
		}
		read.Begins = library.BaseOf(from).Beginning()
	}
	if q.System != nil {
		read.System = *q.System
	}
	tokens, header := t.EncodeQuestion(q, read, d.Think)
	r.Tokens, r.MaxTokens, r.Stops = slices.Concat(text, tokens), d.MaxTokens, d.Stops
	if r.Stops == nil {
		r.Stops = prompt.Stops(m)
	}
	r.Sampling = d.sampling(m)
	r.Sampling.Ban = slices.Concat(r.Sampling.Ban, t.BannedTokens())
	return r, header, nil
}

// RawRequest continues a text as it is, without a template, from the zero state or
// from a state of the library. It ends at token 0, the end of a document, in every
// family.
func (d Defaults) RawRequest(m *infer.Model, text string, from *turn.State) (r infer.Request, err error) {
	if from != nil {
		if r.From, r.Tokens, err = library.BeginFrom(*from, m); err != nil {
			return r, err
		}
	}
	r.Tokens = m.Tokenizer.Encode(r.Tokens, text)
	r.MaxTokens, r.Stops, r.Sampling = d.MaxTokens, d.Stops, d.sampling(m)
	return r, nil
}

// sampling is that of new conversations of a model.
func (d Defaults) sampling(m *infer.Model) sampler.Params { return d.Conversation(m).Sampling }

// Conversation is a new conversation of a model, without an ID.
func (d Defaults) Conversation(m *infer.Model) turn.Conversation {
	preset, now := prompt.FindPreset(m, d.Preset, d.Presets), time.Now()
	c := turn.Conversation{
		System: d.System, Think: cmp.Or(d.Think, turn.ThinkOff), Preset: preset.Name, Sampling: preset.Sampling, Created: now, Updated: now,
	}
	if d.Sampling != nil {
		c.Preset, c.Sampling = "", *d.Sampling
	}
	return c
}
