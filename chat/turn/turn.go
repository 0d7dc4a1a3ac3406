package turn

import (
	"time"

	"rookery/infer"
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

// A Turn is a node of the conversation tree. A committed turn is immutable,
// with these exceptions: an answer without turns below it that is continued
// grows in place; a prompt is tokenised again for a model with another
// tokenizer; the tokens of a first turn follow the system prompt; and labels
// and pins come and go.
type Turn struct {
	ID     ID
	Parent ID // 0: the first turn
	Role   Role
	Text   string // what a person reads: no template, no stop. An answer may hold <think>...</think>
	// Tokens are what the state reads for this turn, template included, in
	// order: the concatenation along a line is everything the state has read.
	Tokens []int32
	// Recall, if not nil, is what the states of later turns have read in place
	// of Tokens: an answer without its thought. The turn's own snapshot is
	// always the state after Tokens.
	Recall    []int32
	Open      bool         // the answer was interrupted (crash, stop key, length) and can be continued
	Reason    infer.Reason // of an answer
	Sampling  sampler.Params
	Model     string // fingerprint
	ModelName string
	Base      string  // name of the base state that the line began with; "" for the zero state
	Adapter   string  // name of the adapter it was generated with; "" for none
	AdapterID string  // its fingerprint; "" also where it was not written down
	Mix       Mix     // it was drawn from; the zero Mix for none
	History   History // of the state after it; the zero History is not known
	Label     string  // a person's name for this turn
	Pinned    bool    // its snapshot is kept
	Edited    bool    // an answer of which a person wrote a part
	Created   time.Time
	Usage     infer.Usage
}

// A Conversation is the head data of a tree.
type Conversation struct {
	ID       ID
	Title    string
	Named    bool // by a person: do not retitle
	System   string
	Think    ThinkMode
	Preset   string // name of the sampling preset, "" if changed by hand
	Sampling sampler.Params
	Created  time.Time
	Updated  time.Time
	Head     ID // the turn that the conversation goes on from; 0: its beginning
	// Tip is the last turn of the visible line. It is Head or a turn below it:
	// what lies between was undone and can be redone.
	Tip      ID
	Base     ID     // the library's state that the first turn begins from; 0: the zero state
	Adapter  string // fingerprint of the adapter in use; "" for none
	Mix      Mix    // of states, beside the conversation's own; the zero Mix for none
	Pinned   bool
	Archived bool      // not listed unless asked for
	Deleted  time.Time // when it was thrown away; zero: it was not
}

// A ThinkMode says how a thinking model (G1) is asked to think.
type ThinkMode string

// The modes of the G1 templates; ThinkOff adds nothing.
const (
	ThinkOff     ThinkMode = "off"
	ThinkFast    ThinkMode = "fast" // an empty thought is prefilled
	ThinkFree    ThinkMode = "free"
	ThinkShort   ThinkMode = "short"
	ThinkLong    ThinkMode = "long"
	ThinkChinese ThinkMode = "chinese"
)
