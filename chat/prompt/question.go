package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rookery/chat/turn"
)

// A Question is a prompt without a conversation in the store: what was said
// before it, if anything, and the prompt at the end.
type Question struct {
	System   *string // nil: that of new conversations
	Messages []Message
}

// A Message is one turn of a Question.
type Message struct {
	Role turn.Role
	Text string
}

// QuestionOf is a Question of one prompt.
func QuestionOf(text string) Question { return Question{Messages: []Message{{turn.RoleUser, text}}} }

// Check says what is wrong with a question, or nil: prompts and answers take
// turns, and a prompt comes first and last.
func (q *Question) Check() error {
	if len(q.Messages) == 0 {
		return errors.New("there is no prompt")
	}
	for i, m := range q.Messages {
		want := turn.RoleUser
		if i%2 == 1 {
			want = turn.RoleAssistant
		}
		switch {
		case m.Role != want:
			return fmt.Errorf("message %d is of the %v: the user and the assistant take turns, the user first", i+1, m.Role)
		case m.Role == turn.RoleUser && strings.TrimSpace(m.Text) == "":
			return fmt.Errorf("message %d is empty", i+1)
		}
	}
	if len(q.Messages)%2 == 0 {
		return errors.New("the last message is of the assistant: there is nothing to answer")
	}
	return nil
}

// EncodeQuestion renders a question, with the thinking mode for its last prompt.
// header is the beginning of the answer that the last prompt gives.
func (t Template) EncodeQuestion(q Question, r Rendering, think turn.ThinkMode) (tokens []int32, header string) {
	for i, m := range q.Messages {
		switch {
		case m.Role == turn.RoleAssistant:
			tokens = slices.Concat(tokens, t.EncodeAnswer(m.Text))
		case i < len(q.Messages)-1:
			tokens = slices.Concat(tokens, t.encodePrompt(r, i == 0, m.Text, turn.ThinkOff))
		default:
			tokens = slices.Concat(tokens, t.encodePrompt(r, i == 0, m.Text, think))
		}
	}
	return tokens, t.header(think)
}
