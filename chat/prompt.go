package chat

import (
	"rookery/chat/turn"
	"slices"
	"strings"
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

// A prompting is what a user turn's tokens are made of.
type prompting struct {
	first      bool // no turn was read before: the opening comes first
	begins     beginning
	system     string
	text       string
	think      turn.ThinkMode
	blankLines bool // stay as they are
}

// prompt renders what the state reads for a user turn, up to where the model
// speaks. The separator is a call of its own: the greedy tokeniser would
// otherwise join it with what stands before, and the tokens would depend on
// how the line was cut into turns.
func (t template) prompt(p prompting) []int32 {
	var tokens []int32
	if p.first {
		tokens = t.opening(p.system, p.begins)
	} else {
		tokens = t.tok.Encode(tokens, separator)
	}
	return t.tok.Encode(tokens, userSays+p.cleaned()+t.request(p.think)+separator+assistantSays+t.header(p.think))
}

// tokenised is a prompt with its tokens, if it has none; other turns stay as
// they are.
func (t template) tokenised(tn turn.Turn, r rendering, think turn.ThinkMode) turn.Turn {
	if tn.Role != turn.RoleUser || len(tn.Tokens) > 0 {
		return tn
	}
	tn.Tokens = t.prompt(prompting{
		first: tn.Parent == 0, begins: r.begins, system: r.system, text: tn.Text, think: think, blankLines: r.blankLines,
	})
	tn.Model, tn.ModelName = t.model, t.name
	return tn
}

func (p prompting) cleaned() string {
	if p.blankLines {
		return strings.TrimSpace(unixLines(p.text))
	}
	return cleanText(p.text)
}

// opening is what the state reads before the first turn, its separator
// included. A state that was tuned or has read a text needs no exchange to
// open with.
func (t template) opening(system string, b beginning) []int32 {
	var tokens []int32
	if b == afterText {
		tokens = t.tok.Encode(tokens, separator)
	}
	var text string
	switch system = cleanText(system); {
	case system != "":
		text = systemSays + system
	case t.family == FamilyWorld && b == fromZero:
		text = worldPreamble
	default:
		return tokens
	}
	return t.tok.Encode(t.tok.Encode(tokens, text), separator)
}

// reopen replaces the opening of a first turn's tokens. ok is false when they
// do not begin with the old one.
func (t template) reopen(tokens []int32, was, now string, b beginning) (_ []int32, ok bool) {
	old := t.opening(was, b)
	if len(tokens) < len(old) || !slices.Equal(tokens[:len(old)], old) {
		return nil, false
	}
	return slices.Concat(t.opening(now, b), tokens[len(old):]), true
}

// headerIn finds the beginning of the answer that a prompt gave.
func (t template) headerIn(prompt []int32) string {
	const tail = 16 // tokens; no header is longer
	text := t.decode(prompt[max(0, len(prompt)-tail):])
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

// decode is the bytes of tokens; ids without text are skipped.
func (t template) decode(tokens []int32) string {
	var b strings.Builder
	for _, id := range tokens {
		b.Write(t.tok.Bytes(id))
	}
	return b.String()
}

// encodeSystem is a system prompt as a text that a state is baked from: without
// the separator after it, which the first prompt of a conversation brings.
func (t template) encodeSystem(text string) []int32 {
	if text = cleanText(text); text == "" {
		return nil
	}
	return t.tok.Encode(nil, systemSays+text)
}

// encodeDocument is a document in place of a system prompt.
func (t template) encodeDocument(text string) []int32 {
	return t.tok.Encode(nil, strings.TrimSpace(unixLines(text)))
}
