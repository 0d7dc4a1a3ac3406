package turn

import (
	"fmt"
	"time"

	"rookery/infer"
	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// A Role is who spoke.
type Role uint8

// The roles.
const (
	RoleUser Role = iota + 1
	RoleAssistant
)

func (r Role) String() string {
	if r == RoleUser {
		return "user"
	}
	return "assistant"
}

// MarshalText is what String says.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String says.
func (r *Role) UnmarshalText(text []byte) error {
	for _, role := range []Role{RoleUser, RoleAssistant} {
		if role.String() == string(text) {
			*r = role
			return nil
		}
	}
	return fmt.Errorf("there is no role %.40q", text)
}

// A Turn is a node of the conversation tree. A committed turn is immutable,
// with these exceptions: an answer without turns below it that is continued
// grows in place; a prompt is tokenised again for a model with another
// tokenizer; the tokens of a first turn follow the system prompt; and labels
// and pins come and go.
//
// Its JSON is that of exported files, see docs/formats.md.
type Turn struct {
	ID     ID     `json:"id"`
	Parent ID     `json:"parent,omitempty"` // 0: the first turn
	Role   Role   `json:"role"`
	Text   string `json:"text"` // what a person reads: no template, no stop. An answer may hold <think>...</think>
	// Tokens are what the state reads for this turn, template included, in
	// order: the concatenation along a line is everything the state has read.
	Tokens []int32 `json:"tokens"`
	// Recall, if not nil, is what the states of later turns have read in place
	// of Tokens: an answer without its thought. The turn's own snapshot is
	// always the state after Tokens.
	Recall    []int32        `json:"recall,omitzero"`
	Open      bool           `json:"open,omitempty"`   // the answer was interrupted (crash, stop key, length) and can be continued
	Reason    infer.Reason   `json:"reason,omitempty"` // of an answer
	Sampling  sampler.Params `json:"sampling,omitzero"`
	Model     string         `json:"model"` // fingerprint
	ModelName string         `json:"model_name"`
	Base      string         `json:"base,omitempty"`       // name of the base state that the line began with; "" for the zero state
	Adapter   string         `json:"adapter,omitempty"`    // name of the adapter it was generated with; "" for none
	AdapterID string         `json:"adapter_id,omitempty"` // its fingerprint; "" also where it was not written down
	Mix       Mix            `json:"mix,omitzero"`         // it was drawn from; the zero Mix for none
	History   History        `json:"history,omitzero"`     // of the state after it; the zero History is not known
	Label     string         `json:"label,omitempty"`      // a person's name for this turn
	Pinned    bool           `json:"pinned,omitempty"`     // its snapshot is kept
	Edited    bool           `json:"edited,omitempty"`     // an answer of which a person wrote a part
	Created   time.Time      `json:"created"`
	Usage     infer.Usage    `json:"usage,omitzero"`
}

// A Conversation is the head data of a tree. Its JSON is that of exported
// files, see docs/formats.md.
type Conversation struct {
	ID       ID             `json:"id"`
	Title    string         `json:"title"`
	Named    bool           `json:"named"` // by a person: do not retitle
	System   string         `json:"system"`
	Think    ThinkMode      `json:"think"`
	Preset   string         `json:"preset"` // name of the sampling preset, "" if changed by hand
	Sampling sampler.Params `json:"sampling"`
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated"`
	Head     ID             `json:"head"` // the turn that the conversation goes on from; 0: its beginning
	// Tip is the last turn of the visible line. It is Head or a turn below it:
	// what lies between was undone and can be redone.
	Tip     ID     `json:"tip,omitempty"`
	Base    ID     `json:"base,omitempty"`    // the library's state that the first turn begins from; 0: the zero state
	Adapter string `json:"adapter,omitempty"` // fingerprint of the adapter in use; "" for none
	Mix     Mix    `json:"mix,omitzero"`      // of states, beside the conversation's own; the zero Mix for none
	// Form is what the next answers must look like; the zero Spec is any text.
	Form     grammar.Spec `json:"form,omitzero"`
	Pinned   bool         `json:"pinned,omitempty"`
	Archived bool         `json:"archived,omitempty"` // not listed unless asked for
	Deleted  time.Time    `json:"-"`                  // when it was thrown away; zero: it was not
	CopyOf   ID           `json:"-"`                  // the conversation that a fork is still no more than a copy of; 0: it has something of its own
}

// A ThinkMode says how a thinking model (G1) is asked to think.
type ThinkMode string

// The modes of the G1 templates; ThinkOff adds nothing.
const (
	ThinkOff     ThinkMode = "off"
	ThinkFast    ThinkMode = "fast" // an empty thought is prefilled
	ThinkFree    ThinkMode = "free"
	ThinkEnglish ThinkMode = "en" // as free, and the prompt asks for it
	ThinkShort   ThinkMode = "short"
	ThinkLong    ThinkMode = "long"
	ThinkChinese ThinkMode = "chinese"
)
