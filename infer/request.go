package infer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// A Request asks the engine to read tokens and generate more.
type Request struct {
	// From is the snapshot to go on from; nil is the zero state. The sampler goes
	// on from From.Sampler. For penalties that begin anew, as at a new turn, pass a
	// copy with Sampler cleared.
	From   *Snapshot
	Tokens []int32 // to read before the first draw
	// Replay are tokens that an interrupted answer has generated already. They are
	// read after Tokens, penalties count them and the random stream moves past them,
	// so the answer goes on as if it had not been interrupted. Stream.Read,
	// Ending.Tokens and Ending.Text have only what comes after them. A stop string
	// can begin in the replayed text, but cuts only what comes after it.
	Replay   []int32
	Sampling sampler.Params
	Adapter  string // fingerprint of a loaded one; "" is none
	// AnyAdapter allows a From that was made with another adapter. The state keeps
	// what it has read.
	AnyAdapter bool
	// Members are the further states of a mix, and Weight is the weight of From's
	// own state. nil keeps the members of From; an empty slice that is not nil
	// drops them.
	Members   []Member
	Weight    float32
	MaxTokens int      // generated tokens at most; 0 is no limit
	Stops     []string // byte strings that end the answer and are not part of it; token 0 always ends it
	// Grammar allows only answers that it describes; nil allows all. There are no
	// stop strings then: the answer ends where it is whole (ReasonStop). It is not
	// whole if MaxTokens or a cancellation ends it.
	Grammar *grammar.Grammar
	// Begun are tokens of the answer that From has read already, for Grammar and DRY.
	Begun  []int32
	Top    int    // candidates to report with every token
	Label  string // whose request this is, for Stats
	Logits bool   // generate nothing: Ending.Snapshot has the logits (ReasonLength)
	// Score are tokens whose likelihood is asked for. They are read after Tokens,
	// one a step, and Ending.Scores says how likely each was. Nothing is generated
	// (ReasonLength), and the ending has no snapshot.
	Score []int32
}

// A Token is one generated token as it was drawn.
type Token struct {
	ID      int32
	LogProb float32             // as Drawn.LogProb
	Top     []sampler.Candidate // the Request.Top likeliest, most likely first
	// MemberLogprobs are, in a mix, the natural logarithms of the probabilities that
	// each of its states alone gives the token, the request's own first.
	MemberLogprobs []float32
}

// A Reason says why a request ended.
type Reason uint8

// The reasons.
const (
	ReasonNone      Reason = iota // still running
	ReasonStop                    // token 0 or a stop string
	ReasonLength                  // MaxTokens
	ReasonCancelled               // Stream.Cancel or Engine.Close
	ReasonError                   // Ending.Err says what
)

var reasonNames = [...]string{"running", "stop", "length", "cancelled", "error"}

func (r Reason) String() string { return reasonNames[r] }

// MarshalText is what String says.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String says; an empty text is ReasonNone.
func (r *Reason) UnmarshalText(text []byte) error {
	i := slices.Index(reasonNames[:], string(text))
	if i < 0 && len(text) > 0 {
		return fmt.Errorf("there is no reason %.40q for an answer to end", text)
	}
	*r = Reason(max(i, 0))
	return nil
}

// Usage is what a request cost.
type Usage struct {
	Read       int           // prompt tokens read (Tokens and Replay)
	Generated  int           // tokens drawn, the stop included
	ReadTime   time.Duration // from submission to the end of the prompt
	DecodeTime time.Duration // from there to the end
	FirstToken time.Duration // from submission to the first token
}

// Rate is the generated tokens a second; 0 where it is not known. The first token is
// drawn with the prompt's last step, before DecodeTime begins, so that this is the time
// of the others.
func (u Usage) Rate() float64 {
	if u.Generated < 2 || u.DecodeTime <= 0 {
		return 0
	}
	return float64(u.Generated-1) / u.DecodeTime.Seconds()
}

// usageJSON is a Usage with times in seconds.
type usageJSON struct {
	Read       int     `json:"read"`
	Generated  int     `json:"generated"`
	ReadTime   float64 `json:"read_seconds"`
	DecodeTime float64 `json:"decode_seconds"`
	FirstToken float64 `json:"first_token_seconds"`
}

// MarshalJSON writes times in seconds.
func (u Usage) MarshalJSON() ([]byte, error) {
	return json.Marshal(usageJSON{u.Read, u.Generated, u.ReadTime.Seconds(), u.DecodeTime.Seconds(), u.FirstToken.Seconds()})
}

// UnmarshalJSON takes back what MarshalJSON wrote, to the nanosecond.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var j usageJSON
	err := json.Unmarshal(data, &j)
	*u = Usage{j.Read, j.Generated, inSeconds(j.ReadTime), inSeconds(j.DecodeTime), inSeconds(j.FirstToken)}
	return err
}

// inSeconds takes back what Duration.Seconds gave; what no Duration holds is 0.
func inSeconds(s float64) time.Duration {
	ns := math.Round(s * 1e9)
	if !(math.Abs(ns) < 1<<62) {
		return 0
	}
	return time.Duration(ns)
}

// An Ending is the result of a request.
type Ending struct {
	Reason Reason
	Err    error
	// Tokens are the answer's tokens without the stop. If a stop string began inside
	// a token, the encoding of the bytes before it takes the token's place.
	Tokens []int32
	// Text is the answer without the stop: valid UTF-8, and exactly what Stream.Read
	// returned in pieces. If the last character is incomplete, its bytes are in
	// Snapshot.Tail.
	Text string
	// Snapshot continues exactly after Tokens. After a failed step it has the last
	// state that is known to be good, and Pending has the tokens to read again. It is
	// nil after Request.Score.
	Snapshot *Snapshot
	// Scores are the natural logarithms of the probabilities of the tokens of
	// Request.Score, each after the tokens before it, as Token.LogProb.
	Scores []float32
	Usage  Usage
}

// Progress is where a running request is.
type Progress struct {
	Read, ToRead int // prompt tokens
	Generated    int
	Rate         float64 // tokens a second over the last second: generated ones, or read ones while reading
}
