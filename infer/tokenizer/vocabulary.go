package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Bounds of a vocabulary file.
const (
	maxFileBytes  = 64 << 20
	maxTokenBytes = 1024 // World's longest has 128
)

// Parse reads a vocabulary file. It knows World's format, a line
//
//	ID PYTHON_LITERAL BYTE_LENGTH
//
// for each token, with text ('...') or byte (b'...') literals and LF or CRLF;
// the JSON object {"ID": "text" or [bytes], ...} of web-rwkv and ai00; and the
// tokenizer.json of the tokenizers package, if it is byte-level BPE. All
// 256 single bytes must be there. An entry for id 0 is ignored: 0 ends a
// text and has no bytes. The name is for people.
func Parse(name string, data []byte) (*Tokenizer, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("vocabulary %s: %d bytes are more than a vocabulary has (at most %d)", name, len(data), maxFileBytes)
	}
	v := vocabulary{name: name}
	read := v.readLines
	if start := bytes.TrimLeft(data, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		if isBPE(data) {
			t, err := parseBPE(name, data)
			if err != nil {
				return nil, fmt.Errorf("tokenizer %s: %w", name, err)
			}
			return t, nil
		}
		read = v.readJSON
	}
	if err := read(data); err != nil {
		return nil, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	t, err := v.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	return t, nil
}

// A vocabulary is the tokens of a file, in its order.
type vocabulary struct {
	name  string
	text  []byte
	items []item
}

// An item is the token id with the bytes text[lo:hi].
type item struct {
	id     int32
	lo, hi uint32
}

func (v *vocabulary) add(id int32, token []byte) {
	lo := uint32(len(v.text))
	v.text = append(v.text, token...)
	v.items = append(v.items, item{id, lo, uint32(len(v.text))})
}

// checkEntry refuses ids and tokens out of bounds.
func checkEntry(id, length int) error {
	switch {
	case id < 0 || id >= maxTokens:
		return fmt.Errorf("token %d: ids are 0 to %d", id, maxTokens-1)
	case length == 0:
		return fmt.Errorf("token %d is empty", id)
	case length > maxTokenBytes:
		return fmt.Errorf("token %d has %d bytes, more than the %d that a token may have", id, length, maxTokenBytes)
	}
	return nil
}

// indexed checks the vocabulary as a whole and makes a Tokenizer of it that knows the
// bytes of its tokens.
func (v *vocabulary) indexed() (*Tokenizer, error) {
	if len(v.items) == 0 {
		return nil, errors.New("it has no tokens; is it a vocabulary file?")
	}
	byID := func(a, b item) int { return cmp.Compare(a.id, b.id) }
	if !slices.IsSortedFunc(v.items, byID) {
		slices.SortFunc(v.items, byID)
	}
	t := &Tokenizer{
		name:  v.name,
		text:  make([]byte, 0, len(v.text)),
		start: make([]uint32, 0, v.items[len(v.items)-1].id+2),
	}
	for i, it := range v.items {
		if i > 0 && it.id == v.items[i-1].id {
			return nil, fmt.Errorf("token %d occurs twice", it.id)
		}
		for len(t.start) <= int(it.id) {
			t.start = append(t.start, uint32(len(t.text)))
		}
		t.text = append(t.text, v.text[it.lo:it.hi]...)
	}
	t.start = append(t.start, uint32(len(t.text)))
	return t, nil
}

// tokenizer makes a greedy Tokenizer of it.
func (v *vocabulary) tokenizer() (*Tokenizer, error) {
	t, err := v.indexed()
	if err != nil {
		return nil, err
	}
	words, err := t.sortedWords(len(v.items))
	if err != nil {
		return nil, err
	}
	if t.trie, err = newTrie(words); err != nil {
		return nil, err
	}
	t.fingerprint = t.digest()
	return t, nil
}

// sortedWords are the n tokens in the order of their bytes. It makes sure that
// no two are the same and that every single byte is there.
func (t *Tokenizer) sortedWords(n int) ([]word, error) {
	words := make([]word, 0, n)
	single := 0
	for id := range t.Size() {
		b := t.Bytes(int32(id))
		if b == nil {
			continue
		}
		if len(b) == 1 {
			single++
		}
		words = append(words, word{sortKey(b), b, int32(id)})
	}
	slices.SortFunc(words, func(a, b word) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return bytes.Compare(a.bytes, b.bytes)
	})
	for i := 1; i < len(words); i++ {
		if bytes.Equal(words[i].bytes, words[i-1].bytes) {
			return nil, fmt.Errorf("tokens %d and %d are both %q", words[i-1].id, words[i].id, words[i].bytes)
		}
	}
	if single != 256 { // distinct, so exactly all of them
		return nil, fmt.Errorf("it has %d of the 256 single bytes, and without all of them text cannot be encoded", single)
	}
	return words, nil
}

// sortKey is the first 8 bytes as a number: it orders most words by one comparison.
func sortKey(b []byte) uint64 {
	var head [8]byte
	copy(head[:], b)
	return binary.BigEndian.Uint64(head[:])
}
