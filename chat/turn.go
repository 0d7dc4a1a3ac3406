package chat

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
// tokenizer; and the tokens of a first turn follow the system prompt.
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
	Head     ID // the turn that the visible line ends with; 0: empty
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
