package infer

import "rookery/infer/sampler"

// A Snapshot is everything needed to continue a sequence bit for bit. It is
// immutable once made and may be shared.
type Snapshot struct {
	Model     string    // Model.Fingerprint
	Tokenizer string    // Tokenizer.Fingerprint
	Adapter   string    // fingerprint of the adapter that the sequence runs with; "" is none
	Position  int       // tokens that State has consumed since the base state
	State     []float32 // canonical layout, see rwkv.Shape; nil is the zero state
	// Pending are tokens of the sequence that State has not consumed, such as the
	// last drawn token of a cancelled answer. They are read before anything else.
	Pending []int32
	// Logits are those after the last consumed token, one for each row of the
	// vocabulary. They are nil if Pending is not empty or no token was read. With
	// them an answer continues without a forward pass.
	Logits  []float32
	Sampler sampler.Memory // penalties and position in the random stream
	Weight  float32        // in a mix, that of State
	Members []Member       // the further states of a mix; they have consumed the same tokens
	Tail    []byte         // bytes of an incomplete character at the end of the text
	// Spans are the last tokens that State has consumed and the adapters that read
	// them, the last token at the end: all of Position, or as far back as is known.
	// They are not part of the binary form.
	Spans []Span
	// Prefix identifies what State has read; zero if that is not known. The caller
	// of Engine.Submit sets it. It is not part of the binary form.
	Prefix Prefix
}

// HostBytes is the host memory of the snapshot's states and logits.
func (s *Snapshot) HostBytes() int64 {
	const float = 4
	n := len(s.State) + len(s.Logits)
	for _, m := range s.Members {
		n += len(m.State) + len(m.Logits)
	}
	return float * int64(n)
}
