package tokenizer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A Tokenizer maps bytes to tokens, by greedy longest match or by BPE. It is immutable
// and safe for concurrent use.
type Tokenizer struct {
	name        string
	fingerprint string
	trie        trie     // of a greedy one
	bpe         *bpe     // of the others
	text        []byte   // the bytes of all tokens, in the order of their ids
	start       []uint32 // token id is text[start[id]:start[id+1]]; Size()+1 values
}

// NewBytes is the tokenizer of models with a vocabulary of 256: an id is a byte.
func NewBytes() *Tokenizer {
	v := vocabulary{name: "bytes"}
	for b := range 256 {
		v.add(int32(b), []byte{byte(b)})
	}
	t, err := v.tokenizer()
	if err != nil {
		panic("tokenizer: the byte vocabulary: " + err.Error()) // 256 fixed entries cannot fail
	}
	return t
}

// Encode appends the tokens of text to dst. It cannot fail, because a vocabulary has
// every single byte; those of BPE leave out bytes that no UTF-8 has.
func (t *Tokenizer) Encode(dst []int32, text string) []int32 {
	if t.bpe != nil {
		return t.bpe.encode(dst, text)
	}
	units := t.trie.units
	for i := 0; i < len(text); {
		node := rootBase | int(text[i])
		u := units[node]
		id, end := u.token(), i+1
		for j := i + 1; j < len(text); j++ {
			next := u.base() ^ int(text[j])
			v := units[next]
			if v.parent() != node {
				break
			}
			if v.hasToken() {
				id, end = v.token(), j+1
			}
			node, u = next, v
		}
		dst = append(dst, id)
		i = end
	}
	return dst
}

// Greedy says whether the tokenizer takes the longest token, as World does, and is no
// BPE.
func (t *Tokenizer) Greedy() bool { return t.bpe == nil }

// Decode appends the bytes of ids to dst. Ids without text add nothing.
func (t *Tokenizer) Decode(dst []byte, ids []int32) []byte {
	for _, id := range ids {
		dst = append(dst, t.Bytes(id)...)
	}
	return dst
}

// Bytes are the bytes of a token; nil for ids without text, such as 0. The caller must
// not change them.
func (t *Tokenizer) Bytes(id int32) []byte {
	if id < 0 || int(id) >= t.Size() {
		return nil
	}
	lo, hi := t.start[id], t.start[id+1]
	if lo == hi {
		return nil
	}
	return t.text[lo:hi:hi]
}

// Size is one more than the highest id with text.
func (t *Tokenizer) Size() int { return len(t.start) - 1 }

// Fingerprint identifies the vocabulary: the SHA-256, in hexadecimal, of its
// ids and bytes, whatever file format and name they came in.
func (t *Tokenizer) Fingerprint() string { return t.fingerprint }

// Name is for people: "World", "bytes", a file's name.
func (t *Tokenizer) Name() string { return t.name }

// digest hashes, for each id with text in ascending order, the id and the
// length as 32-bit little-endian numbers and the bytes.
func (t *Tokenizer) digest() string {
	h := sha256.New()
	var head [8]byte
	buf := make([]byte, 0, len(t.text)+8*t.Size())
	for id := range t.Size() {
		b := t.Bytes(int32(id))
		if b == nil {
			continue
		}
		binary.LittleEndian.PutUint32(head[0:], uint32(id))
		binary.LittleEndian.PutUint32(head[4:], uint32(len(b)))
		buf = append(append(buf, head[:]...), b...)
	}
	h.Write(buf) // a hash.Hash never returns an error
	return hex.EncodeToString(h.Sum(nil))
}
