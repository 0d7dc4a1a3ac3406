package prompt

import (
	"cmp"
	"slices"
	"strings"

	"rookery/chat/turn"
)

const (
	separator = "\n\n" // between turns; always tokenised by itself
)

// What turns are headed with. The assistant's has no space behind it: the model
// brings it.
func (t Template) userSays() string      { return cmp.Or(t.spec.User, "User") + ": " }
func (t Template) assistantSays() string { return cmp.Or(t.spec.Assistant, "Assistant") + ":" }
func (t Template) systemSays() string    { return cmp.Or(t.spec.System, "System") + ": " }

// worldPreamble is the exchange that World models, which were not trained with
// system prompts, are opened with, as in the models' public chat demonstrations.
const worldPreamble = "User: hi\n\nAssistant: Hi. I am your assistant and I will provide expert full response in full details. Please feel free to ask any question and I will always answer it."

// encodePrompt renders what the state reads for a user turn, up to where the
// model speaks. The opening comes before a first turn. The separator is a call
// of its own: the greedy tokeniser would otherwise join it with what stands
// before, and the tokens would depend on how the line was cut into turns.
func (t Template) encodePrompt(r Rendering, first bool, text string, think turn.ThinkMode) []int32 {
	if t.page != nil {
		return t.encodePage(r, first, text, think)
	}
	var tokens []int32
	if first {
		tokens = t.encodeOpening(r)
	} else {
		tokens = t.Tokenizer.Encode(tokens, separator)
	}
	return t.Tokenizer.Encode(tokens, t.userSays()+r.clean(text)+t.lengthRequest(think)+separator+t.assistantSays()+t.header(think))
}

// FillTokens gives a prompt its tokens if it has none. Other turns stay as they
// are.
func (t Template) FillTokens(tn turn.Turn, r Rendering, think turn.ThinkMode) turn.Turn {
	if tn.Role != turn.RoleUser || len(tn.Tokens) > 0 {
		return tn
	}
	tn.Tokens = t.encodePrompt(r, tn.Parent == 0, tn.Text, think)
	tn.Model, tn.ModelName = t.Model, t.ModelName
	return tn
}

// encodeOpening renders what the state reads before the first turn, the
// separator included. A state that was tuned or has read a text needs no
// exchange to open with.
func (t Template) encodeOpening(r Rendering) []int32 {
	var tokens []int32
	if r.Begins == AfterText {
		tokens = t.Tokenizer.Encode(tokens, separator)
	}
	var text string
	switch system := CleanText(r.System); {
	case system != "":
		text = t.systemSays() + system
	case t.family == FamilyWorld && r.Begins == FromZero:
		text = worldPreamble
	default:
		return tokens
	}
	return t.Tokenizer.Encode(t.Tokenizer.Encode(tokens, text), separator)
}

// ReopenTurn gives a first turn the opening of another rendering. Where its
// tokens do not begin with the old opening, its text is rendered again.
func (t Template) ReopenTurn(first turn.Turn, was, now Rendering) turn.Turn {
	old := t.encodeOpening(was)
	if t.page == nil && t.OwnsTokens(first) && len(first.Tokens) >= len(old) && slices.Equal(first.Tokens[:len(old)], old) {
		first.Tokens = slices.Concat(t.encodeOpening(now), first.Tokens[len(old):])
		return first
	}
	first.Tokens = t.EncodeTurn(first, now)
	first.Model, first.ModelName = t.Model, t.ModelName
	return first
}

// FindHeader finds the beginning of the answer that a prompt gave: what stands
// after its last "Assistant:".
func (t Template) FindHeader(tokens []int32) string {
	const tail = 64 // tokens; no header with what stands before it is longer
	text := t.Decode(tokens[max(0, len(tokens)-tail):])
	if t.page != nil {
		return t.longestHeader(text)
	}
	says := t.assistantSays()
	at := strings.LastIndex(text, says)
	if at < 0 {
		return ""
	}
	return text[at+len(says):]
}

// longestHeader is the header of a thinking mode that a text ends with, or "".
func (t Template) longestHeader(text string) (longest string) {
	for _, m := range allThinkModes {
		if h := strings.TrimLeft(t.header(m), " "); strings.HasSuffix(text, h) && len(h) > len(longest) {
			longest = h
		}
	}
	return longest
}

// encodePage is encodePrompt by a person's own template. What it writes is
// tokenised as a whole: it begins where an answer has ended.
func (t Template) encodePage(r Rendering, first bool, text string, think turn.ThinkMode) []int32 {
	out, err := t.spec.suffix(t.page, CleanText(r.System), first, r.clean(text)+t.lengthRequest(think), strings.TrimLeft(t.header(think), " "))
	if err != nil { // for this text alone: it was carried out when it was checked
		out = text
	}
	var tokens []int32
	if first && r.Begins == AfterText {
		tokens = t.Tokenizer.Encode(tokens, separator)
	}
	return t.Tokenizer.Encode(tokens, out)
}

// Decode is the bytes of tokens; ids without text are skipped.
func (t Template) Decode(tokens []int32) string {
	var b strings.Builder
	for _, id := range tokens {
		b.Write(t.Tokenizer.Bytes(id))
	}
	return b.String()
}

// EncodeSystem renders a system prompt that a state is baked from. The separator
// after it comes with the first prompt of a conversation.
func (t Template) EncodeSystem(text string) []int32 {
	if text = CleanText(text); text == "" {
		return nil
	}
	return t.Tokenizer.Encode(nil, t.systemSays()+text)
}

// EncodeDocument renders a document that a state is baked from.
func (t Template) EncodeDocument(text string) []int32 {
	return t.Tokenizer.Encode(nil, trimLines(text))
}
