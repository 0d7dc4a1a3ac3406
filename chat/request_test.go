package chat_test

import (
	"slices"
	"testing"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// A text that is continued as it is ends at the end of the document; answers of World
// models, which end at a blank line, do not draw that token.
func TestRawRequestsEndAtTokenZero(t *testing.T) {
	m := scripted.Model()
	d := chat.Defaults{Sampling: &sampler.Params{Ban: []int32{9}}, MaxTokens: 5}
	answer, _, err := d.Request(m, prompt.QuestionOf("hello"), nil)
	must(t, err)
	raw, err := d.RawRequest(m, "hello", nil)
	must(t, err)
	if !slices.Equal(answer.Sampling.Ban, []int32{9, 0}) || !slices.Equal(raw.Sampling.Ban, []int32{9}) {
		t.Errorf("an answer never draws %v, a continued text %v", answer.Sampling.Ban, raw.Sampling.Ban)
	}
	if !slices.Equal(raw.Tokens, m.Tokenizer.Encode(nil, "hello")) || raw.MaxTokens != 5 {
		t.Errorf("reads %v, at most %d tokens", raw.Tokens, raw.MaxTokens)
	}
}
