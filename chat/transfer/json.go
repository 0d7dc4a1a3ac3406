package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"rookery/chat/turn"
)

// The JSON of a conversation is one object: what it is ("format", "version"),
// the conversation, and its turns, parents before children: those of the
// visible line, or all of them. A reader must refuse a version it does not
// know; fields may be added within a version.
const (
	lineFormat  = "rookery-conversation"
	treeFormat  = "rookery-tree"
	jsonVersion = 1
)

type exportFile struct {
	Format       string               `json:"format"`
	Version      int                  `json:"version"`
	Conversation exportedConversation `json:"conversation"`
	Turns        []exportedTurn       `json:"turns"`
}

// An exportedConversation is a conversation in JSON, which holds valid UTF-8.
type exportedConversation struct {
	turn.Conversation
	Bytes []byte `json:"system_bytes,omitempty"` // the system prompt, if it is not valid UTF-8
}

// An exportedTurn is a turn in JSON, which holds valid UTF-8.
type exportedTurn struct {
	turn.Turn
	Bytes []byte `json:"text_bytes,omitempty"` // the text, if it is not valid UTF-8
}

// writeLine writes the JSON of a visible line, without what belongs to the whole
// tree or to the library of this machine.
func writeLine(w io.Writer, c turn.Conversation, line []turn.Turn) error {
	c.Tip, c.Base, c.Pinned, c.Archived = 0, 0, false, false
	return writeFile(w, lineFormat, c, line)
}

// writeTree writes the JSON of a tree, without its states.
func writeTree(w io.Writer, t turn.Tree) error {
	return writeFile(w, treeFormat, t.Conversation, t.Turns)
}

func writeFile(w io.Writer, format string, c turn.Conversation, turns []turn.Turn) error {
	file := exportFile{Format: format, Version: jsonVersion, Conversation: exportConversation(c), Turns: make([]exportedTurn, len(turns))}
	for i, t := range turns {
		file.Turns[i] = exportTurn(t)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(file)
}

func exportConversation(c turn.Conversation) exportedConversation {
	c.Created, c.Updated = c.Created.UTC(), c.Updated.UTC()
	e := exportedConversation{Conversation: c}
	if !utf8.ValidString(c.System) {
		e.Bytes = []byte(c.System)
	}
	return e
}

func exportTurn(t turn.Turn) exportedTurn {
	t.Created = t.Created.UTC()
	if t.Tokens == nil {
		t.Tokens = []int32{} // no null
	}
	e := exportedTurn{Turn: t}
	if !utf8.ValidString(t.Text) {
		e.Bytes = []byte(t.Text)
	}
	return e
}

// readTree reads the JSON of a tree or of the JSON export. Turns are checked
// as they come, so that a short file cannot ask for much memory.
func readTree(r io.Reader) (turn.Tree, error) {
	var t turn.Tree
	var head struct {
		format  string
		version int
		c       *exportedConversation
	}
	var check treeCheck
	dec := json.NewDecoder(squeeze(r))
	err := eachField(dec, func(name string) error {
		switch name {
		case "format":
			return dec.Decode(&head.format)
		case "version":
			return dec.Decode(&head.version)
		case "conversation":
			return dec.Decode(&head.c)
		case "turns":
			return eachElement(dec, func() error {
				var e exportedTurn
				err := dec.Decode(&e)
				var tn turn.Turn
				if err == nil {
					tn, err = e.restore()
				}
				if err == nil {
					err = check.checkTurn(tn)
				}
				if err != nil {
					return fmt.Errorf("turn %d: %w", len(t.Turns)+1, err)
				}
				t.Turns = append(t.Turns, tn)
				return nil
			})
		}
		return dec.Decode(new(json.RawMessage))
	})
	switch {
	case err != nil:
		return t, err
	case head.format != treeFormat && head.format != lineFormat:
		return t, fmt.Errorf("the format is %q; %s and %s can be read", head.format, treeFormat, lineFormat)
	case head.version != jsonVersion:
		return t, fmt.Errorf("it has version %d and this rookery reads version 1: update rookery", head.version)
	case head.c == nil:
		return t, errors.New("there is no conversation in it")
	}
	if t.Conversation, err = head.c.restore(); err != nil {
		return t, err
	}
	return t, check.checkTree(&t)
}

// restore is the turn that was written.
func (e exportedTurn) restore() (turn.Turn, error) {
	t := e.Turn
	t.Created = t.Created.UTC()
	if len(t.Tokens) == 0 { // of no model: they are made when the conversation goes on
		t.Tokens, t.Recall, t.Model, t.History = nil, nil, "", turn.History{}
	}
	if e.Bytes != nil {
		t.Text = string(e.Bytes)
	}
	return t, t.Sampling.Validate()
}

// restore is the conversation that was written.
func (e exportedConversation) restore() (turn.Conversation, error) {
	c := e.Conversation
	c.Created, c.Updated = c.Created.UTC(), c.Updated.UTC()
	if e.Bytes != nil {
		c.System = string(e.Bytes)
	}
	if c.Tip == 0 {
		c.Tip = c.Head
	}
	return c, c.Sampling.Validate()
}
