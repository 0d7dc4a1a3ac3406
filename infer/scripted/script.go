package scripted

import (
	"strings"

	"rookery/infer/tokenizer"
)

// A Then is what happens after the text of an Answer.
type Then uint8

// The values of Then.
const (
	End   Then = iota // token 0
	NaN               // logits of NaN
	Panic             // the step panics
	Fail              // the step returns an error
)

// An Answer is the answer to prompts that contain a text.
type Answer struct {
	Prompt string // "" is in every prompt
	Text   string
	Then   Then
}

// DefaultCue is the end of a prompt that the chat templates have in common.
const DefaultCue = "Assistant:"

// A script is the answers with their tokens.
type script struct {
	cue     string
	answers []Answer
	tokens  [][]int32
}

func newScript(t *tokenizer.Tokenizer, cue string, answers []Answer) script {
	if cue == "" {
		cue = DefaultCue
	}
	s := script{cue: cue, answers: answers, tokens: make([][]int32, len(answers))}
	for i, a := range answers {
		s.tokens[i] = t.Encode(nil, a.Text)
	}
	return s
}

// follows says whether a token is the next one of the state's answer.
func (c *script) follows(s state, id int32) bool {
	n, at := int(s[atAnswer]), int(s[atCursor])
	return n > 0 && n <= len(c.tokens) && at < len(c.tokens[n-1]) && c.tokens[n-1][at] == id
}

// chosen is the answer to a text, counted from 1: the one whose prompt comes
// last in the text or, of several that end there, the longest. It is 0 if there
// is none.
func (c *script) chosen(text string) int {
	best, bestEnd, bestLen := 0, 0, 0
	for i, a := range c.answers {
		at := strings.LastIndex(text, a.Prompt)
		if at < 0 {
			continue
		}
		n := len(a.Prompt)
		end := at + n
		if n == 0 {
			end = 0
		}
		if best == 0 || end > bestEnd || end == bestEnd && n > bestLen {
			best, bestEnd, bestLen = i+1, end, n
		}
	}
	return best
}

// next is the next token of a state's answer, or what happens instead.
func (c *script) next(s state) (id int32, then Then, ok bool) {
	n, at := int(s[atAnswer]), int(s[atCursor])
	if n == 0 || n > len(c.answers) {
		return 0, End, false
	}
	if at < len(c.tokens[n-1]) {
		return c.tokens[n-1][at], End, true
	}
	return 0, c.answers[n-1].Then, true
}
