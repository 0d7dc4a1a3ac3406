package chat

import (
	"strings"
	"unicode"
)

// reads is what the state reads for a turn on the way to one below it: its
// own tokens if they are this tokenizer's, otherwise its text again.
func (t template) reads(turn Turn, r rendering) []int32 {
	switch {
	case !t.knows(turn):
		return t.rerender(turn, r)
	case turn.Recall != nil:
		return turn.Recall
	default:
		return turn.Tokens
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
func (t template) rerender(turn Turn, r rendering) []int32 {
	if turn.Role == RoleUser {
		return t.prompt(prompting{
			first: turn.Parent == 0, begins: r.begins, system: r.system, text: turn.Text, think: ThinkOff, blankLines: r.blankLines,
		})
	}
	text := turn.Text
	if turn.Recall != nil {
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
func (t template) knows(turn Turn) bool {
	if turn.Model == t.model {
		return true
	}
	spelt := squeeze(t.decode(turn.Tokens))
	if turn.Role == RoleUser {
		return strings.Contains(spelt, squeeze(userSays+turn.Text))
	}
	return (spelt != "" || turn.Text == "") && strings.HasSuffix(squeeze(turn.Text), spelt)
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
