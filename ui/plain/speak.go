package plain

import (
	"fmt"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// spoken is how much was told of the answer that is being spoken.
type spoken struct {
	id      turn.ID // 0: none is
	started bool    // its name has been written
	thought bool    // its thought has been announced
	bytes   int     // of its text that have been written
}

func (c *console) write(text string) {
	if _, err := c.out.Write(c.clean.Append(nil, text)); err != nil && c.wrote == nil {
		c.wrote = err
	}
}

// say writes a line of its own.
func (c *console) say(text string) {
	c.endLine()
	c.write(text + "\n")
}

// endLine leaves the line of a prompt that is still waiting, or of an answer.
func (c *console) endLine() {
	if c.asked || c.inside {
		c.asked, c.inside = false, false
		c.write("\n")
	}
}

func (c *console) ask() {
	c.asked = true
	c.write("You: ")
}

// tellInterrupted says how to go on with an answer that did not end by itself.
func (c *console) tellInterrupted() {
	c.say("The answer was interrupted. /continue goes on with it.")
}

// welcome says where one is and what was said last.
func (c *console) welcome(version string) {
	c.say(strings.TrimSpace("Rookery " + version + ". /help lists the commands, /quit leaves."))
	v := c.d.View()
	if len(v.Turns) == 0 {
		if text := prompt.Greeting(c.model); text != "" {
			c.say(text)
		}
		return
	}
	c.say(fmt.Sprintf("Conversation: %s, %d messages.", kit.TitleOf(v.Conversation), len(v.Turns)))
	last := v.Turns[len(v.Turns)-1]
	if last.Role == turn.RoleAssistant {
		_, answer, _ := prompt.SplitThought(last.Text)
		c.say("Answer: " + kit.Clean(strings.TrimSpace(answer)))
	} else {
		c.say("You: " + kit.Clean(last.Text))
	}
	if last.Open {
		c.tellInterrupted()
	}
}

// startAnswer does what starts an answer, and keeps in mind which one it is: one
// of a few tokens can be over before the conversation is looked at again.
func (c *console) startAnswer(start func() error) error {
	c.speak() // the end of the one before, if that is not told yet
	before := newestAnswer(c.d.View())
	if err := start(); err != nil {
		return err
	}
	v := c.d.View()
	if v.Live != nil {
		c.answer = spoken{id: v.Live.Turn.ID}
	} else if now := newestAnswer(v); now != before {
		c.answer = spoken{id: now}
	}
	return nil
}

// newestAnswer is the answer that a conversation ends with, or 0.
func newestAnswer(v chat.View) turn.ID {
	if n := len(v.Turns); n > 0 && v.Turns[n-1].Role == turn.RoleAssistant {
		return v.Turns[n-1].ID
	}
	return 0
}

// speak writes what of the running answer has become a whole sentence, and the
// end of an answer that has ended. It says whether one is running: one that ends
// from here on is not told yet.
func (c *console) speak() (generating bool) {
	v := c.d.View()
	generating = v.Live != nil
	if c.choosing {
		if generating {
			return true
		}
		c.readAnswers(v.Alternatives)
	}
	if c.answer.id != 0 && (v.Live == nil || v.Live.Turn.ID != c.answer.id) {
		c.finishAnswer(v)
	}
	if v.Live != nil {
		if c.answer.id == 0 {
			c.answer.id = v.Live.Turn.ID
		}
		c.tellRereading(v.Live)
		thought, answer, open := prompt.SplitThought(v.Live.Text)
		if open && !c.answer.thought {
			c.answer.thought = true
			c.say("Thinking.")
		}
		if !open {
			c.tellAnswer(thought, strings.TrimLeft(answer, " \n"), false)
		}
	}
	if v.Err == nil {
		c.failure = ""
	} else if text := kit.OneLine(v.Err.Error()); text != c.failure {
		c.failure = text
		c.say("Error: " + text)
	}
	return generating
}

// tellAnswer writes the answer up to the end of its last whole sentence, or all
// of it.
func (c *console) tellAnswer(thought, answer string, all bool) {
	rest := answer[min(c.answer.bytes, len(answer)):]
	if !all {
		rest = rest[:sentenceEnd(rest)]
	}
	if rest == "" {
		return
	}
	if !c.answer.started {
		c.answer.started = true
		c.endLine()
		if thought != "" {
			c.say(fmt.Sprintf("Thought: %d words.", transcript.CountWords(thought)))
		}
		c.write("Answer: ")
	}
	c.answer.bytes += len(rest)
	c.inside = !strings.HasSuffix(rest, "\n")
	c.write(rest)
}

// finishAnswer writes the end of an answer and how it ended.
func (c *console) finishAnswer(v chat.View) {
	for _, t := range v.Turns {
		if t.ID != c.answer.id {
			continue
		}
		thought, answer, _ := prompt.SplitThought(t.Text)
		c.tellAnswer(thought, strings.Trim(answer, " \n"), true)
		c.endLine()
		if t.Open {
			c.tellInterrupted()
		}
	}
	c.answer = spoken{}
}

// sentenceEnd is where the last whole sentence or line of a text ends.
func sentenceEnd(text string) int {
	end := strings.LastIndexByte(text, '\n') + 1
	for _, mark := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if i := strings.LastIndex(text, mark); i >= 0 {
			end = max(end, i+len(mark))
		}
	}
	return end
}
