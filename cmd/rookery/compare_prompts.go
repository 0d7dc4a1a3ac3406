package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"rookery/chat/prompt"
	"rookery/chat/turn"
)

// Limits of a file of prompts.
const (
	maxPromptLine  = 4 << 20
	maxPromptBytes = 1 << 30
	maxPrompts     = 100_000
	maxMessages    = 1000
)

// A promptLine is a question with the line of its file.
type promptLine struct {
	line     int
	question prompt.Question
}

// readPrompts reads a file of prompts: each line is an object with "prompt" or
// "messages", or the prompt itself. It skips empty lines. An error names the line.
func readPrompts(r io.Reader, name string) ([]promptLine, error) {
	all := &io.LimitedReader{R: r, N: maxPromptBytes + 1}
	lines := bufio.NewScanner(all)
	lines.Buffer(nil, maxPromptLine)
	var prompts []promptLine
	n := 0
	for lines.Scan() {
		n++
		text := lines.Bytes()
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		q, err := parsePrompt(text)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if len(prompts) == maxPrompts {
			return nil, fmt.Errorf("%s has more than %d prompts: split it", name, maxPrompts)
		}
		prompts = append(prompts, promptLine{n, q})
	}
	switch err := lines.Err(); {
	case all.N == 0:
		return nil, fmt.Errorf("%s is longer than %s: split it", name, bytesText(maxPromptBytes))
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s, line %d: it is longer than %s", name, n+1, bytesText(maxPromptLine))
	case err != nil:
		return nil, fmt.Errorf("%s, line %d: %w", name, n+1, err)
	case len(prompts) == 0:
		return nil, fmt.Errorf("%s has no prompts: write one a line, or {\"prompt\": ...}, or {\"messages\": [...]}", name)
	}
	return prompts, nil
}

// A promptJSON is a line that is an object; its other keys are ignored.
type promptJSON struct {
	Prompt   *string       `json:"prompt"`
	Messages []messageJSON `json:"messages"`
}

type messageJSON struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func parsePrompt(line []byte) (q prompt.Question, err error) {
	if !utf8.Valid(line) {
		return q, errors.New("it is not UTF-8 text")
	}
	if line[0] != '{' {
		return prompt.QuestionOf(string(line)), nil
	}
	var p promptJSON
	if err := json.Unmarshal(line, &p); err != nil {
		return q, fmt.Errorf("it begins like JSON and is not: %w", err)
	}
	switch {
	case p.Prompt != nil && p.Messages != nil:
		return q, errors.New(`it has both "prompt" and "messages": which one is it?`)
	case p.Prompt != nil:
		q = prompt.QuestionOf(*p.Prompt)
	case len(p.Messages) > maxMessages:
		return q, fmt.Errorf("it has %d messages; at most %d are allowed", len(p.Messages), maxMessages)
	case p.Messages == nil:
		return q, errors.New(`it has neither "prompt" nor "messages"`)
	default:
		if q, err = questionOf(p.Messages); err != nil {
			return q, err
		}
	}
	return q, q.Check()
}

func questionOf(messages []messageJSON) (q prompt.Question, err error) {
	for i, m := range messages {
		switch m.Role {
		case "system":
			if i > 0 {
				return q, fmt.Errorf("message %d is of the system: only the first one may be", i+1)
			}
			q.System = &m.Content
		case "user":
			q.Messages = append(q.Messages, prompt.Message{Role: turn.RoleUser, Text: m.Content})
		case "assistant":
			q.Messages = append(q.Messages, prompt.Message{Role: turn.RoleAssistant, Text: m.Content})
		default:
			return q, fmt.Errorf("message %d has the role %q: there are system, user and assistant", i+1, m.Role)
		}
	}
	return q, nil
}

// messagesOf returns a question in the form of the results.
func messagesOf(q prompt.Question) []messageJSON {
	var out []messageJSON
	if q.System != nil {
		out = append(out, messageJSON{"system", *q.System})
	}
	for _, m := range q.Messages {
		out = append(out, messageJSON{m.Role.String(), m.Text})
	}
	return out
}
