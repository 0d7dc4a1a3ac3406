package sampler

// A Mode selects a sampling definition.
type Mode uint8

// The modes: our default in the RWKV order, and the two parity modes.
const (
	ModeRWKV  Mode = iota // penalties, softmax, top_p, top_k, then temperature
	ModePip               // as the public rwkv pip package, its quirks included
	ModeRapid             // as Rapid-Sampling: temperature first, top_k and top_p on one softmax
)

// Params are the sampling parameters of one row. The zero Temperature is greedy.
type Params struct {
	Mode        Mode
	Temperature float32
	TopK        int     // 0: off
	TopP        float32 // 1 (or 0 with greedy): off
	Presence    float32
	Frequency   float32
	Decay       float32 // of the occurrence counts, per token
	Seed        uint64
	Ban         []int32 // tokens never drawn
}

// A Candidate is a token the next draw could choose.
type Candidate struct {
	Token   int32
	LogProb float32 // natural logarithm under the model's own softmax
	Prob    float32 // what the draw gives it, after penalties, truncation and temperature
}

// Memory is the part of a Sampler that a snapshot keeps.
type Memory struct {
	Draws  uint64 // numbers taken from the random stream
	Counts []Count
}

// A Count is how often a token occurred, after decay. Both numbers decay alike.
type Count struct {
	Token int32
	N     float32 // all occurrences
	First float32 // the part of N that the first occurrence is; ModeRapid charges presence on it
}

// A Sampler draws the tokens of one sequence. It is not safe for concurrent use.
type Sampler struct{}

// New makes a sampler. Ids from vocab up have no token and are never drawn.
func New(vocab int, p Params) *Sampler { return &Sampler{} }

// Params are the current parameters.
func (s *Sampler) Params() Params { return Params{} }

// SetParams changes the parameters from the next draw on. The random stream
// goes on where it is; a changed Seed is ignored.
func (s *Sampler) SetParams(p Params) {}

// Sample draws a token from raw logits, which it does not change, and returns
// its log-probability under the model's own softmax. It takes one number from
// the random stream, also when greedy.
func (s *Sampler) Sample(logits []float32) (token int32, logProb float32) { return 0, 0 }

// Observe counts a drawn token for the penalties.
func (s *Sampler) Observe(token int32) {}

// Skip moves the random stream past n draws (a replayed answer).
func (s *Sampler) Skip(n int) {}

// Top returns the k likeliest tokens under the model's own softmax, with the
// probability that the next draw gives them.
func (s *Sampler) Top(logits []float32, k int) []Candidate { return nil }

// Memory is what a snapshot keeps; Restore is its inverse.
func (s *Sampler) Memory() Memory { return Memory{} }

// Restore continues as the sampler whose Memory this is.
func (s *Sampler) Restore(m Memory) {}

// Validate says in one line what is wrong with the parameters, or nil.
func (p Params) Validate() error { return nil }
