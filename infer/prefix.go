package infer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A Prefix names what a state has read: the model it was made by, the state it
// began from and every token since. Two states of the same prefix are the same
// state. The zero Prefix names nothing.
type Prefix [16]byte

// PrefixFrom is the prefix of having read nothing. base identifies the state
// that reading begins from, "" the zero state, and whatever else than the
// weights and the vocabulary goes into a step.
func PrefixFrom(m *Model, base string) Prefix {
	h := sha256.New()
	for _, part := range []string{m.Fingerprint, m.Tokenizer.Fingerprint(), base} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		_, _ = h.Write(n[:]) // a hash takes everything
		_, _ = h.Write([]byte(part))
	}
	return Prefix(h.Sum(nil)[:len(Prefix{})])
}

// Then is the prefix after one more token.
func (p Prefix) Then(token int32) Prefix {
	var block [len(p) + 4]byte
	copy(block[:], p[:])
	binary.LittleEndian.PutUint32(block[len(p):], uint32(token))
	sum := sha256.Sum256(block[:])
	return Prefix(sum[:len(p)])
}

// After is the prefix after tokens.
func (p Prefix) After(tokens []int32) Prefix {
	for _, t := range tokens {
		p = p.Then(t)
	}
	return p
}

func (p Prefix) String() string { return hex.EncodeToString(p[:]) }
