package infer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A Prefix is a hash of what a state has read: the model that made it, the state
// it began from and every token since. States with the same prefix are equal. The
// zero Prefix means that it is not known.
type Prefix [16]byte

// PrefixFrom is the prefix of a state that has read no token yet. base identifies
// the state that reading begins from ("" is the zero state) and everything but
// the weights and the vocabulary that a step depends on, such as an adapter.
func PrefixFrom(m *Model, base string) Prefix {
	h := sha256.New()
	for _, part := range []string{m.Fingerprint, m.Tokenizer.Fingerprint(), base} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		_, _ = h.Write(n[:]) // a hash never fails
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
