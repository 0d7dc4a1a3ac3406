package infer

import "rookery/infer/sampler"

// A Snapshot is everything needed to go on bit for bit. It is immutable once
// made and may be shared.
type Snapshot struct {
	Model     string    // Model.Fingerprint
	Tokenizer string    // Tokenizer.Fingerprint
	Adapter   string    // fingerprint of the adapter that the sequence runs with; "" is none
	Position  int       // tokens that State has consumed since the base state
	State     []float32 // canonical layout, see rwkv.Shape; nil is the zero state
	// Pending are tokens that belong to the sequence but that State has not
	// consumed: the last drawn token of a cancelled answer, for instance.
	// They are read before anything else.
	Pending []int32
	// Logits are those after the last consumed token, or nil when Pending is
	// not empty or nothing was read. With them an answer continues without a
	// forward pass.
	Logits  []float32
	Sampler sampler.Memory // penalties and place in the random stream
	Weight  float32        // in a mix, that of State
	Members []Member       // the further states of a mix; they have consumed the same tokens
	Tail    []byte         // bytes of an incomplete character at the end of the text
	// Spans are how the last tokens that State has consumed were read, the very
	// last at the end: of all of Position, or of what was read since nobody knows
	// any more. They are no part of the binary form.
	Spans []Span
	// Prefix names what State has read; zero where that is not known. Whoever
	// asks for the tokens to be read knows it; it is no part of the binary form.
	Prefix Prefix
}

// HostBytes is the memory that the snapshot's state and logits take.
func (s *Snapshot) HostBytes() int64 {
	const float = 4
	n := len(s.State) + len(s.Logits)
	for _, v := range s.Members {
		n += len(v.State) + len(v.Logits)
	}
	return float * int64(n)
}
