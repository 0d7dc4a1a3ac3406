package prompt

import (
	"strings"
	"unicode"

	"rookery/chat/turn"
)

// TurnTokens are what the state of a later turn has read for a turn: its own
// tokens if they are this tokenizer's, otherwise its text.
func (t Template) TurnTokens(tn turn.Turn, r Rendering) []int32 {
	switch {
	case !t.OwnsTokens(tn):
		return t.EncodeTurn(tn, r)
	case tn.Recall != nil:
		return tn.Recall
	default:
		return tn.Tokens
	}
}

// EncodeTurn renders a turn from the text that people read, with thinking off.
func (t Template) EncodeTurn(tn turn.Turn, r Rendering) []int32 {
	if tn.Role == turn.RoleUser {
		return t.encodePrompt(r, tn.Parent == 0, tn.Text, turn.ThinkOff)
	}
	text := tn.Text
	if tn.Recall != nil {
		_, text, _ = SplitThought(text)
		text = CleanText(text)
	}
	return t.EncodeAnswer(text)
}

// EncodeAnswer renders a whole answer as the model would have drawn it.
func (t Template) EncodeAnswer(text string) []int32 {
	return t.Tokenizer.Encode(nil, t.answerLead()+strings.TrimLeft(text, " "))
}

// answerLead is the space before an answer. A template of a person's own writes
// it if it wants one.
func (t Template) answerLead() string {
	if t.page != nil {
		return ""
	}
	return " "
}

// OwnsTokens says that a turn's tokens are of this template's tokenizer. Those
// of the same weights are; others must spell the turn's text, white space aside.
func (t Template) OwnsTokens(tn turn.Turn) bool {
	if tn.Model == t.Model {
		return true
	}
	spelt := squeeze(t.Decode(tn.Tokens))
	if tn.Role == turn.RoleUser {
		if t.page != nil {
			return strings.Contains(spelt, squeeze(tn.Text))
		}
		return strings.Contains(spelt, squeeze(t.userSays()+tn.Text))
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
