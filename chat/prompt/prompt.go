package prompt

import (
	"slices"
	"strings"

	"rookery/chat/turn"
)

const (
	separator     = "\n\n" // between turns; always tokenised by itself
	userSays      = "User: "
	assistantSays = "Assistant:" // no space: the model brings it
	systemSays    = "System: "
)

// worldPreamble is the exchange that World models, which were not trained with
// system prompts, are opened with, as in the models' public chat demonstrations.
const worldPreamble = "User: hi\n\nAssistant: Hi. I am your assistant and I will provide expert full response in full details. Please feel free to ask any question and I will always answer it."

// A userTurn is what a user turn's tokens are made of.
type userTurn struct {
	first      bool // no turn was read before: the opening comes first
	begins     Beginning
	system     string
	text       string
	think      turn.ThinkMode
	blankLines bool // stay as they are
}

// encodeUser renders what the state reads for a user turn, up to where the model
// speaks. The separator is a call of its own: the greedy tokeniser would
// otherwise join it with what stands before, and the tokens would depend on
// how the line was cut into turns.
func (t Template) encodeUser(p userTurn) []int32 {
	var tokens []int32
	if p.first {
		tokens = t.encodeOpening(p.system, p.begins)
	} else {
		tokens = t.Tokenizer.Encode(tokens, separator)
	}
	return t.Tokenizer.Encode(tokens, userSays+p.cleaned()+t.lengthRequest(p.think)+separator+assistantSays+t.header(p.think))
}

// FillTokens is a prompt with its tokens, if it has none; other turns stay as
// they are.
func (t Template) FillTokens(tn turn.Turn, r Rendering, think turn.ThinkMode) turn.Turn {
	if tn.Role != turn.RoleUser || len(tn.Tokens) > 0 {
		return tn
	}
	tn.Tokens = t.encodeUser(userTurn{
		first: tn.Parent == 0, begins: r.Begins, system: r.System, text: tn.Text, think: think, blankLines: r.BlankLines,
	})
	tn.Model, tn.ModelName = t.Model, t.ModelName
	return tn
}

func (p userTurn) cleaned() string {
	if p.blankLines {
		return strings.TrimSpace(NormalizeLines(p.text))
	}
	return CleanText(p.text)
}

// encodeOpening is what the state reads before the first turn, its separator
// included. A state that was tuned or has read a text needs no exchange to
// open with.
func (t Template) encodeOpening(system string, b Beginning) []int32 {
	var tokens []int32
	if b == AfterText {
		tokens = t.Tokenizer.Encode(tokens, separator)
	}
	var text string
	switch system = CleanText(system); {
	case system != "":
		text = systemSays + system
	case t.family == FamilyWorld && b == FromZero:
		text = worldPreamble
	default:
		return tokens
	}
	return t.Tokenizer.Encode(t.Tokenizer.Encode(tokens, text), separator)
}

// ReplaceOpening replaces the opening of a first turn's tokens. ok is false when they
// do not begin with the old one.
func (t Template) ReplaceOpening(tokens []int32, was, now string, b Beginning) (_ []int32, ok bool) {
	old := t.encodeOpening(was, b)
	if len(tokens) < len(old) || !slices.Equal(tokens[:len(old)], old) {
		return nil, false
	}
	return slices.Concat(t.encodeOpening(now, b), tokens[len(old):]), true
}

// FindHeader finds the beginning of the answer that a prompt gave.
func (t Template) FindHeader(prompt []int32) string {
	const tail = 16 // tokens; no header is longer
	text := t.Decode(prompt[max(0, len(prompt)-tail):])
	_, header, found := lastCut(text, assistantSays)
	if !found {
		return ""
	}
	return header
}

func lastCut(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Decode is the bytes of tokens; ids without text are skipped.
func (t Template) Decode(tokens []int32) string {
	var b strings.Builder
	for _, id := range tokens {
		b.Write(t.Tokenizer.Bytes(id))
	}
	return b.String()
}

// EncodeSystem is a system prompt as a text that a state is baked from: without
// the separator after it, which the first prompt of a conversation brings.
func (t Template) EncodeSystem(text string) []int32 {
	if text = CleanText(text); text == "" {
		return nil
	}
	return t.Tokenizer.Encode(nil, systemSays+text)
}

// EncodeDocument is a document in place of a system prompt.
func (t Template) EncodeDocument(text string) []int32 {
	return t.Tokenizer.Encode(nil, strings.TrimSpace(NormalizeLines(text)))
}
