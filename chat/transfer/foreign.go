package transfer

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"rookery/chat/prompt"
	"rookery/chat/turn"
)

// Bounds of files of other programs.
const (
	foreignBytes         = 1 << 30   // of a file; it is read as it goes
	foreignText          = 512 << 20 // of all messages that are kept
	foreignConversations = 1 << 20
	foreignMessages      = 1 << 16 // of a conversation
)

// A foreignFile has conversations in the forms of ShareGPT,
//
//	[{"id": ..., "conversations": [{"from": "human", "value": "..."}, ...]}, ...]
//
// or OpenAI, [{"messages": [{"role": "user", "content": "..."}, ...]}, ...].
// Names of both are taken in either; one object, or one a line, does instead
// of an array, and so does an array of messages for one conversation.
type foreignFile struct {
	p    *Import
	text int64
	n    int
}

type foreignConversation struct {
	Title         string          `json:"title"`
	System        string          `json:"system"`
	Conversations foreignTalk     `json:"conversations"`
	Conversation  foreignTalk     `json:"conversation"`
	Messages      foreignTalk     `json:"messages"`
	ID            json.RawMessage `json:"id"`
	foreignMessage
}

type foreignMessage struct {
	From    string         `json:"from"`
	Role    string         `json:"role"`
	Value   foreignContent `json:"value"`
	Content foreignContent `json:"content"`
}

// A foreignTalk is the messages of a conversation.
type foreignTalk []foreignMessage

// UnmarshalJSON reads messages one by one: the first that has no speaker ends
// it, so that a short text cannot ask for much memory.
func (t *foreignTalk) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	return eachElement(dec, func() error {
		var m foreignMessage
		if err := dec.Decode(&m); err != nil {
			return err
		}
		if m.From == "" && m.Role == "" {
			return fmt.Errorf("message %d does not say who speaks", len(*t)+1)
		}
		if len(*t) == foreignMessages {
			return fmt.Errorf("a conversation has more than %d messages", foreignMessages)
		}
		*t = append(*t, m)
		return nil
	})
}

// A foreignContent is a text, or a list of parts of which texts are read.
type foreignContent struct {
	text  string
	other string // the kind of a part that is no text
}

// UnmarshalJSON takes a text, null, or parts.
func (c *foreignContent) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.text)
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	return eachElement(dec, func() error {
		var part struct{ Type, Text string }
		if err := dec.Decode(&part); err != nil {
			return err
		}
		if part.Type != "text" && c.other == "" {
			c.other = part.Type
		}
		c.text += part.Text
		return nil
	})
}

// readForeign reads the conversations of another program.
func (p *Import) readForeign(r io.Reader, size int64) error {
	if size > foreignBytes {
		return fmt.Errorf("it has %d bytes; %d can be read", size, int64(foreignBytes))
	}
	in := bufio.NewReader(squeeze(r))
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	fresh := Import{Like: p.Like}
	f := foreignFile{p: &fresh}
	dec := json.NewDecoder(in)
	for first := true; ; first = false {
		c, err := firstByte(dec, in)
		if errors.Is(err, io.EOF) && !first {
			break
		}
		switch {
		case err != nil:
			return errNoForm
		case c == '[':
			err = f.readArray(dec)
		case c == '{':
			err = f.readObject(dec)
		default:
			return errNoForm
		}
		if err != nil {
			return fmt.Errorf("conversation %d: %w", f.n+1, err)
		}
	}
	if f.n == 0 {
		return errors.New("there is no conversation in it")
	}
	p.trees = append(p.trees, fresh.trees...)
	p.results = append(p.results, fresh.results...)
	return nil
}

var errNoForm = errors.New("it is neither a bundle nor JSON of conversations")

// firstByte says what the next value begins with.
func firstByte(dec *json.Decoder, in *bufio.Reader) (byte, error) {
	rest, err := io.ReadAll(io.LimitReader(dec.Buffered(), sniffed))
	if err != nil {
		return 0, err
	}
	if text := strings.TrimSpace(string(rest)); text != "" {
		return text[0], nil
	}
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, in.UnreadByte()
		}
	}
}

// readArray reads conversations, or the messages of one.
func (f *foreignFile) readArray(dec *json.Decoder) error {
	var talk foreignTalk
	err := eachElement(dec, func() error {
		var c foreignConversation
		if err := dec.Decode(&c); err != nil {
			return err
		}
		if c.From != "" || c.Role != "" {
			if len(talk) == foreignMessages {
				return fmt.Errorf("it has more than %d messages", foreignMessages)
			}
			talk = append(talk, c.foreignMessage)
			return nil
		}
		return f.addConversation(c)
	})
	if err == nil && len(talk) > 0 {
		err = f.addConversation(foreignConversation{Messages: talk})
	}
	return err
}

func (f *foreignFile) readObject(dec *json.Decoder) error {
	var c foreignConversation
	if err := dec.Decode(&c); err != nil {
		return err
	}
	return f.addConversation(c)
}

// addConversation makes a tree of a conversation. One that cannot be made a tree
// is refused with the reason, and reading goes on.
func (f *foreignFile) addConversation(c foreignConversation) error {
	f.n++
	if f.n > foreignConversations {
		return fmt.Errorf("there are more than %d conversations", foreignConversations)
	}
	t, err := c.makeTree(f.p.Like)
	if err != nil {
		title := c.Title
		if title == "" {
			title = fmt.Sprintf("conversation %d", f.n)
		}
		f.p.results = append(f.p.results, Result{Title: prompt.CleanTitle(title), Outcome: OutcomeRefused, Note: err.Error()})
		return nil
	}
	for _, tn := range t.Turns {
		f.text += int64(len(tn.Text))
	}
	if f.text > foreignText {
		return fmt.Errorf("all messages together have more than %d bytes", int64(foreignText))
	}
	f.p.trees = append(f.p.trees, t)
	return nil
}

// makeTree makes a line of turns. They have no tokens: these are made when the
// conversation goes on. The ids are a hash of the text, so that a conversation is
// recognised when it is imported again.
func (c foreignConversation) makeTree(like *turn.Conversation) (turn.Tree, error) {
	if like == nil {
		preset := prompt.FamilyPresets(prompt.FamilyWorld)[0]
		like = &turn.Conversation{Preset: preset.Name, Sampling: preset.Sampling}
	}
	t := turn.Tree{Conversation: turn.Conversation{
		System: c.System, Think: turn.ThinkOff, Preset: like.Preset, Sampling: like.Sampling,
		Created: time.Now().UTC(), Updated: time.Now().UTC(),
	}}
	for _, talk := range []foreignTalk{c.Conversations, c.Conversation, c.Messages} {
		for _, m := range talk {
			if err := m.addTo(&t); err != nil {
				return t, err
			}
		}
	}
	if len(t.Turns) == 0 {
		return t, errors.New("it has no messages")
	}
	numberTurns(&t)
	t.Conversation.Title = prompt.MakeTitle(t.Turns[0].Text)
	if c.Title != "" {
		t.Conversation.Title, t.Conversation.Named = prompt.CleanTitle(c.Title), true
	}
	var check treeCheck
	for i, tn := range t.Turns {
		if err := check.checkTurn(tn); err != nil {
			return t, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return t, check.checkTree(&t)
}

// foreignSpeakers are the names of who speaks.
var foreignSpeakers = map[string]turn.Role{
	"human": turn.RoleUser, "user": turn.RoleUser, "prompter": turn.RoleUser,
	"gpt": turn.RoleAssistant, "assistant": turn.RoleAssistant, "chatgpt": turn.RoleAssistant, "bot": turn.RoleAssistant,
	"model": turn.RoleAssistant, "bing": turn.RoleAssistant, "bard": turn.RoleAssistant,
}

// addTo adds a message at the end of a line.
func (m foreignMessage) addTo(t *turn.Tree) error {
	speaker := strings.ToLower(m.From + m.Role)
	text := m.Value.text + m.Content.text
	if other := m.Value.other + m.Content.other; other != "" {
		return fmt.Errorf("it has a message of the kind %.40q", other)
	}
	if !utf8.ValidString(text) {
		return errors.New("it has a message that is no valid text")
	}
	if speaker == "system" || speaker == "developer" {
		t.Conversation.System = strings.TrimSpace(t.Conversation.System + "\n\n" + text)
		return nil
	}
	role := foreignSpeakers[speaker]
	last := len(t.Turns) - 1
	switch {
	case role == 0:
		return fmt.Errorf("it has a message by %.40q", speaker)
	case role == turn.RoleAssistant && last < 0:
		return errors.New("it begins with an answer")
	case role == turn.RoleAssistant && t.Turns[last].Role == turn.RoleAssistant:
		t.Turns[last].Text += "\n\n" + text
		return nil
	}
	t.Turns = append(t.Turns, turn.Turn{Role: role, Text: text, Created: t.Conversation.Created})
	return nil
}

// numberTurns gives the turns of a line ids, one below the other.
func numberTurns(t *turn.Tree) {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%d %s\n", len(t.Conversation.System), t.Conversation.System)
	for _, tn := range t.Turns {
		_, _ = fmt.Fprintf(sum, "%d %d %s\n", tn.Role, len(tn.Text), tn.Text)
	}
	const bits = 58 // before the ids of today
	id := turn.ID(binary.LittleEndian.Uint64(sum.Sum(nil))>>(64-bits)) + 1
	t.Conversation.ID = id
	above := turn.ID(0)
	for i := range t.Turns {
		id++
		t.Turns[i].ID, t.Turns[i].Parent = id, above
		above = id
	}
	t.Conversation.Head, t.Conversation.Tip = above, above
}
