package transfer

import (
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// The JSON export is one object: what it is ("format", "version"), the
// conversation, and the turns of its visible line from the first to the last.
// A reader must refuse a version it does not know; fields may be added within
// a version. IDs are strings, since they exceed what JavaScript's numbers
// hold. Times are RFC 3339 in UTC, durations are in seconds. "tokens" are all
// that the state reads for a turn, template included; "recall", where there is
// one, is what later turns have read in its place.
const (
	exportFormat  = "rookery-conversation"
	exportVersion = 1
)

type exportFile struct {
	Format       string             `json:"format"`
	Version      int                `json:"version"`
	Conversation exportConversation `json:"conversation"`
	Turns        []exportTurn       `json:"turns"`
}

type exportConversation struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Named    bool           `json:"named"`
	System   string         `json:"system"`
	Think    turn.ThinkMode `json:"think"`
	Preset   string         `json:"preset"`
	Sampling sampler.Params `json:"sampling"`
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated"`
	Head     string         `json:"head"`
	Bytes    []byte         `json:"system_bytes,omitempty"` // the system prompt, if it is not valid UTF-8
	Tip      string         `json:"tip,omitempty"`          // of a tree, as what follows
	Base     string         `json:"base,omitempty"`
	Pinned   bool           `json:"pinned,omitempty"`
	Archived bool           `json:"archived,omitempty"`
	Adapter  string         `json:"adapter,omitempty"` // fingerprint of the one in use
	Mix      *turn.Mix      `json:"mix,omitempty"`     // of states in use
}

type exportTurn struct {
	ID        string          `json:"id"`
	Parent    string          `json:"parent,omitempty"`
	Role      string          `json:"role"`
	Text      string          `json:"text"`
	Bytes     []byte          `json:"text_bytes,omitempty"` // the text, if it is not valid UTF-8
	Tokens    []int32         `json:"tokens"`
	Recall    *[]int32        `json:"recall,omitempty"`
	Open      bool            `json:"open,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Sampling  *sampler.Params `json:"sampling,omitempty"` // of an answer
	Model     string          `json:"model"`
	ModelName string          `json:"model_name"`
	Created   time.Time       `json:"created"`
	Usage     *exportUsage    `json:"usage,omitempty"`
	Base      string          `json:"base,omitempty"`
	Adapter   string          `json:"adapter,omitempty"`
	AdapterID string          `json:"adapter_id,omitempty"` // fingerprint
	Mix       *turn.Mix       `json:"mix,omitempty"`
	Reading   *turn.Reading   `json:"reading,omitempty"`
	Label     string          `json:"label,omitempty"`
	Pinned    bool            `json:"pinned,omitempty"`
	Edited    bool            `json:"edited,omitempty"`
}

type exportUsage struct {
	Read       int     `json:"read"`
	Generated  int     `json:"generated"`
	ReadTime   float64 `json:"read_seconds"`
	DecodeTime float64 `json:"decode_seconds"`
	FirstToken float64 `json:"first_token_seconds"`
}

func writeJSON(w io.Writer, c turn.Conversation, line []turn.Turn) error {
	file := exportFile{
		Format: exportFormat, Version: exportVersion,
		Conversation: exportedConversation(c), Turns: make([]exportTurn, len(line)),
	}
	for i, t := range line {
		file.Turns[i] = exportedTurn(t)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(file)
}

func exportedConversation(c turn.Conversation) exportConversation {
	e := exportConversation{
		ID: c.ID.String(), Title: c.Title, Named: c.Named, System: c.System, Think: c.Think,
		Preset: c.Preset, Sampling: c.Sampling,
		Created: c.Created.UTC(), Updated: c.Updated.UTC(), Head: c.Head.String(),
		Adapter: c.Adapter, Mix: exportedMix(c.Mix),
	}
	if !utf8.ValidString(c.System) {
		e.Bytes = []byte(c.System)
	}
	return e
}

func exportedTurn(t turn.Turn) exportTurn {
	e := exportTurn{
		ID: t.ID.String(), Role: t.Role.String(), Text: t.Text, Tokens: t.Tokens, Open: t.Open,
		Model: t.Model, ModelName: t.ModelName, Created: t.Created.UTC(),
		Base: t.Base, Adapter: t.Adapter, AdapterID: t.AdapterID, Label: t.Label, Pinned: t.Pinned, Edited: t.Edited,
		Mix: exportedMix(t.Mix),
	}
	if len(t.Reading.Spans) > 0 {
		e.Reading = &t.Reading
	}
	if t.Recall != nil {
		e.Recall = &t.Recall
	}
	if !utf8.ValidString(t.Text) {
		e.Bytes = []byte(t.Text)
	}
	if t.Parent != 0 {
		e.Parent = t.Parent.String()
	}
	if t.Tokens == nil {
		e.Tokens = []int32{}
	}
	if t.Role == turn.RoleAssistant {
		e.Reason, e.Sampling, e.Usage = t.Reason.String(), &t.Sampling, exportedUsage(t.Usage)
	}
	return e
}

func exportedMix(m turn.Mix) *turn.Mix {
	if !m.Active() {
		return nil
	}
	return &m
}

func exportedUsage(u infer.Usage) *exportUsage {
	return &exportUsage{
		Read: u.Read, Generated: u.Generated, ReadTime: u.ReadTime.Seconds(),
		DecodeTime: u.DecodeTime.Seconds(), FirstToken: u.FirstToken.Seconds(),
	}
}
