package scripted

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/tokenizer"
)

// words are the tokens of Model's vocabulary beside the single bytes. Some contain a
// part of a stop, some end or begin inside a character.
var words = []string{
	"\n\n", "\n\nUser", "\n\nUser:", "User", "Assistant", ":", " the", " and", " a",
	"!\n", ".\n", ".\n\n", "。\n", "ab", "abc", "cd", "aa", "aab",
	"你", "好", "\xe4\xbd", "\xa0\xe5", "\xf0\x9f", "\xa5\xbd!", "\x80\xff",
}

// Model is a model with a small vocabulary: the single bytes, as in World with
// the id one above the byte, and a few words. Its last rows have no token.
func Model() *infer.Model { return ModelWith("scripted", vocabulary(), 320) }

var vocabulary = sync.OnceValue(func() *tokenizer.Tokenizer {
	var file strings.Builder
	for b := range 256 {
		fmt.Fprintf(&file, "%d b'\\x%02x' 1\n", b+1, b)
	}
	id := 257
	for _, w := range words {
		if len(w) == 1 { // already there
			continue
		}
		fmt.Fprintf(&file, "%d b'", id)
		for _, b := range []byte(w) {
			fmt.Fprintf(&file, "\\x%02x", b)
		}
		file.WriteString("' " + strconv.Itoa(len(w)) + "\n")
		id++
	}
	t, err := tokenizer.Parse("scripted", []byte(file.String()))
	if err != nil {
		panic("scripted: the vocabulary: " + err.Error()) // it is fixed
	}
	return t
})

// ModelWith is a model with another vocabulary. rows is that of the head, at least as
// many as t has tokens.
func ModelWith(name string, t *tokenizer.Tokenizer, rows int) *infer.Model {
	return &infer.Model{
		Name:        name,
		Fingerprint: "scripted:" + name,
		Tokenizer:   t,
		Shape: rwkv.Shape{
			Version: rwkv.Newest(), Layers: 1, Embed: 32, Heads: 1, HeadSize: 32, FFN: 128, Vocab: rows,
			Ranks: rwkv.Ranks{8, 8, 8, 8},
		},
	}
}
