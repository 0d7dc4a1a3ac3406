package prompt

import (
	"slices"
	"strings"

	"rookery/infer/tokenizer"
)

// EditTokens are the tokens of an answer's new text: the old ones as long as
// they spell it, then new ones. header is the beginning that the prompt gave.
func (t Template) EditTokens(old []int32, header, text string) []int32 {
	rest := strings.TrimPrefix(text, header)
	if header == "" && (len(old) == 0 || !strings.HasPrefix(rest, t.Decode(old[:1]))) {
		rest = t.answerLead() + strings.TrimLeft(rest, " ")
	}
	kept := 0
	for _, id := range old {
		bytes := string(t.Tokenizer.Bytes(id))
		if !strings.HasPrefix(rest, bytes) || bytes == "" {
			break
		}
		rest = rest[len(bytes):]
		kept++
	}
	return t.Tokenizer.Encode(slices.Clone(old[:kept]), rest)
}

// AnswerText is the text of an answer's tokens. Bytes of an incomplete character
// at the end are left for the tokens that complete it.
func (t Template) AnswerText(header string, tokens []int32) string {
	var a tokenizer.Assembler
	text := a.Push([]byte(t.Decode(tokens)))
	if header == "" {
		text = strings.TrimPrefix(text, " ")
	}
	return header + text
}

// CutAtStop cuts tokens where a stop begins, if a whole stop is among them. The
// part of a token that stands before the stop is tokenised again.
func (t Template) CutAtStop(tokens []int32, stops []string) (_ []int32, stopped bool) {
	if end := slices.Index(tokens, 0); end >= 0 {
		tokens, stopped = tokens[:end], true
	}
	text := t.Decode(tokens)
	cut := len(text)
	for _, stop := range stops {
		if at := strings.Index(text[:cut], stop); stop != "" && at >= 0 {
			cut, stopped = at, true
		}
	}
	at := 0
	for i, id := range tokens {
		next := at + len(t.Tokenizer.Bytes(id))
		if next > cut {
			return t.Tokenizer.Encode(slices.Clone(tokens[:i]), text[at:cut]), stopped
		}
		at = next
	}
	return tokens, stopped
}
