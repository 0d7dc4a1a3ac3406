package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// The JSON of a whole tree has the form of the JSON export, with all turns
// instead of one line, parents before children, and with "tip", "base",
// "pinned" and "archived" beside "head" in the conversation. "sampling" and
// "usage" are given for every turn.
const (
	treeFormat  = "rookery-tree"
	treeVersion = 1
)

// writeTree writes the JSON of a tree, without its states.
func writeTree(w io.Writer, t turn.Tree) error {
	file := exportFile{
		Format: treeFormat, Version: treeVersion,
		Conversation: exportedConversation(t.Conversation), Turns: make([]exportTurn, len(t.Turns)),
	}
	c := &file.Conversation
	c.Tip, c.Pinned, c.Archived = t.Conversation.Tip.String(), t.Conversation.Pinned, t.Conversation.Archived
	if t.Conversation.Base != 0 {
		c.Base = t.Conversation.Base.String()
	}
	for i, tn := range t.Turns {
		e := exportedTurn(tn)
		e.Sampling, e.Usage, e.Reason = &tn.Sampling, exportedUsage(tn.Usage), tn.Reason.String()
		file.Turns[i] = e
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(file)
}

// readTree reads the JSON of a tree or of the JSON export. Turns are checked
// as they come, so that a short file cannot ask for much memory.
func readTree(r io.Reader) (turn.Tree, error) {
	var t turn.Tree
	var head struct {
		format  string
		version int
		c       *exportConversation
	}
	var check treeCheck
	dec := json.NewDecoder(r)
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
				var e exportTurn
				err := dec.Decode(&e)
				var tn turn.Turn
				if err == nil {
					tn, err = e.turn()
				}
				if err == nil {
					err = check.turn(tn)
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
	case head.format != treeFormat && head.format != exportFormat:
		return t, fmt.Errorf("the format is %q; %s and %s can be read", head.format, treeFormat, exportFormat)
	case head.version != 1:
		return t, fmt.Errorf("it has version %d and this rookery reads version 1: update rookery", head.version)
	case head.c == nil:
		return t, errors.New("there is no conversation in it")
	}
	if t.Conversation, err = head.c.conversation(); err != nil {
		return t, err
	}
	return t, check.conversation(&t.Conversation)
}

// eachField calls read at the value of every field of an object.
func eachField(dec *json.Decoder, read func(name string) error) error {
	if err := expect(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		text, ok := name.(string)
		if !ok {
			return fmt.Errorf("there is %v where a name must be", name)
		}
		if err := read(text); err != nil {
			return err
		}
	}
	return expect(dec, '}')
}

// eachElement calls read at every element of an array; null has none.
func eachElement(dec *json.Decoder, read func() error) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return expect(dec, ']')
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("there is %v where %v must be", got, want)
	}
	return nil
}

func (e exportTurn) turn() (turn.Turn, error) {
	t := turn.Turn{
		Text: e.Text, Tokens: e.Tokens, Open: e.Open, Model: e.Model, ModelName: e.ModelName, Created: e.Created.UTC(),
		Base: e.Base, Adapter: e.Adapter, AdapterID: e.AdapterID, Label: e.Label, Pinned: e.Pinned, Edited: e.Edited,
	}
	if e.Mix != nil {
		t.Mix = *e.Mix
	}
	if e.Reading != nil {
		t.Reading = *e.Reading
	}
	if len(e.Tokens) == 0 {
		t.Tokens = nil
	}
	if e.Bytes != nil {
		t.Text = string(e.Bytes)
	}
	if e.Recall != nil {
		t.Recall = *e.Recall
		if t.Recall == nil {
			t.Recall = []int32{}
		}
	}
	var err error
	if t.ID, err = parseID(e.ID); err != nil {
		return t, err
	}
	if e.Parent != "" {
		if t.Parent, err = parseID(e.Parent); err != nil {
			return t, err
		}
	}
	switch e.Role {
	case turn.RoleUser.String():
		t.Role = turn.RoleUser
	case turn.RoleAssistant.String():
		t.Role = turn.RoleAssistant
	default:
		return t, fmt.Errorf("there is no role %q", e.Role)
	}
	if t.Reason, err = parseReason(e.Reason); err != nil {
		return t, err
	}
	if e.Usage != nil {
		t.Usage = e.Usage.usage()
	}
	if e.Sampling != nil {
		t.Sampling = *e.Sampling
	}
	return t, t.Sampling.Validate()
}

func (e exportConversation) conversation() (turn.Conversation, error) {
	c := turn.Conversation{
		Title: e.Title, Named: e.Named, System: e.System, Think: e.Think, Preset: e.Preset, Sampling: e.Sampling,
		Created: e.Created.UTC(), Updated: e.Updated.UTC(), Pinned: e.Pinned, Archived: e.Archived,
		Adapter: e.Adapter,
	}
	if e.Mix != nil {
		c.Mix = *e.Mix
	}
	if e.Bytes != nil {
		c.System = string(e.Bytes)
	}
	err := c.Sampling.Validate()
	if err != nil {
		return c, err
	}
	for _, f := range []struct {
		to   *turn.ID
		text string
	}{{&c.ID, e.ID}, {&c.Head, e.Head}, {&c.Tip, e.Tip}, {&c.Base, e.Base}} {
		if f.text == "" || f.text == "0" && f.to != &c.ID {
			continue
		}
		if *f.to, err = parseID(f.text); err != nil {
			return c, err
		}
	}
	if e.Tip == "" {
		c.Tip = c.Head
	}
	return c, nil
}

func parseID(text string) (turn.ID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%.40q is no id", text)
	}
	return turn.ID(id), nil
}

func parseReason(text string) (infer.Reason, error) {
	reasons := []infer.Reason{infer.ReasonNone, infer.ReasonStop, infer.ReasonLength, infer.ReasonCancelled, infer.ReasonError}
	i := slices.IndexFunc(reasons, func(r infer.Reason) bool { return r.String() == text })
	if i < 0 && text != "" {
		return 0, fmt.Errorf("there is no reason %.40q for an answer to end", text)
	}
	return reasons[max(i, 0)], nil
}

func (e exportUsage) usage() infer.Usage {
	return infer.Usage{
		Read: e.Read, Generated: e.Generated, ReadTime: inSeconds(e.ReadTime),
		DecodeTime: inSeconds(e.DecodeTime), FirstToken: inSeconds(e.FirstToken),
	}
}

// inSeconds takes back what Duration.Seconds gave, to the nanosecond.
func inSeconds(s float64) time.Duration {
	ns := math.Round(s * 1e9)
	if !(math.Abs(ns) < 1<<62) {
		return 0
	}
	return time.Duration(ns)
}
