package chat

import (
	"rookery/chat/turn"
	"slices"
	"strings"
	"unicode"
)

// reads is what the state reads for a turn on the way to one below it: its
// own tokens if they are this tokenizer's, otherwise its text again.
func (t template) reads(tn turn.Turn, r rendering) []int32 {
	switch {
	case !t.knows(tn):
		return t.rerender(tn, r)
	case tn.Recall != nil:
		return tn.Recall
	default:
		return tn.Tokens
	}
}

// A rendering is what text is rendered with.
type rendering struct {
	system     string
	begins     beginning
	blankLines bool
}

// rerender is a turn as tokens of this template's tokenizer, from the text
// that people read.
func (t template) rerender(tn turn.Turn, r rendering) []int32 {
	if tn.Role == turn.RoleUser {
		return t.prompt(prompting{
			first: tn.Parent == 0, begins: r.begins, system: r.system, text: tn.Text, think: turn.ThinkOff, blankLines: r.blankLines,
		})
	}
	text := tn.Text
	if tn.Recall != nil {
		_, text, _ = SplitThought(text)
		text = cleanText(text)
	}
	return t.spoken(text)
}

// spoken is a whole answer as the model would have drawn it.
func (t template) spoken(text string) []int32 {
	return t.tok.Encode(nil, " "+strings.TrimLeft(text, " "))
}

// knows says that a turn's tokens are of this tokenizer. Those of the same
// weights are; others must spell the turn's text, white space aside.
func (t template) knows(tn turn.Turn) bool {
	if tn.Model == t.model {
		return true
	}
	spelt := squeeze(t.decode(tn.Tokens))
	if tn.Role == turn.RoleUser {
		return strings.Contains(spelt, squeeze(userSays+tn.Text))
	}
	return (spelt != "" || tn.Text == "") && strings.HasSuffix(squeeze(tn.Text), spelt)
}

// squeeze removes white space and broken characters.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}

// opened is a first turn with the opening of another rendering.
func (t template) opened(first turn.Turn, was, now rendering) turn.Turn {
	old := t.opening(was.system, was.begins)
	if t.knows(first) && len(first.Tokens) >= len(old) && slices.Equal(first.Tokens[:len(old)], old) {
		first.Tokens = slices.Concat(t.opening(now.system, now.begins), first.Tokens[len(old):])
		return first
	}
	first.Tokens = t.rerender(first, now)
	first.Model, first.ModelName = t.model, t.name
	return first
}
