package prompt

import (
	"slices"
	"strings"
	"unicode"

	"rookery/chat/turn"
)

// TurnTokens is what the state reads for a turn on the way to one below it: its
// own tokens if they are this tokenizer's, otherwise its text again.
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

// A Rendering is what text is rendered with.
type Rendering struct {
	System     string
	Begins     Beginning
	BlankLines bool
}

// EncodeTurn is a turn as tokens of this template's tokenizer, from the text
// that people read.
func (t Template) EncodeTurn(tn turn.Turn, r Rendering) []int32 {
	if tn.Role == turn.RoleUser {
		return t.encodeUser(userTurn{
			first: tn.Parent == 0, begins: r.Begins, system: r.System, text: tn.Text, think: turn.ThinkOff, blankLines: r.BlankLines,
		})
	}
	text := tn.Text
	if tn.Recall != nil {
		_, text, _ = SplitThought(text)
		text = CleanText(text)
	}
	return t.EncodeAnswer(text)
}

// EncodeAnswer is a whole answer as the model would have drawn it.
func (t Template) EncodeAnswer(text string) []int32 {
	return t.Tokenizer.Encode(nil, " "+strings.TrimLeft(text, " "))
}

// OwnsTokens says that a turn's tokens are of this tokenizer. Those of the same
// weights are; others must spell the turn's text, white space aside.
func (t Template) OwnsTokens(tn turn.Turn) bool {
	if tn.Model == t.Model {
		return true
	}
	spelt := squeeze(t.Decode(tn.Tokens))
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

// ReopenTurn is a first turn with the opening of another rendering.
func (t Template) ReopenTurn(first turn.Turn, was, now Rendering) turn.Turn {
	old := t.encodeOpening(was.System, was.Begins)
	if t.OwnsTokens(first) && len(first.Tokens) >= len(old) && slices.Equal(first.Tokens[:len(old)], old) {
		first.Tokens = slices.Concat(t.encodeOpening(now.System, now.Begins), first.Tokens[len(old):])
		return first
	}
	first.Tokens = t.EncodeTurn(first, now)
	first.Model, first.ModelName = t.Model, t.ModelName
	return first
}
