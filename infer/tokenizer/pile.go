package tokenizer

import (
	_ "embed"
	"sync"
)

//go:embed pile/20B_tokenizer.json.zst
var pileFile []byte

// pileBytes is the size of the decompressed file.
const pileBytes = 2_467_981

// Pile is the 20B tokenizer of Pile and Raven models: 50,277 tokens. The first call
// makes it; later ones share it.
func Pile() *Tokenizer { return pile() }

var pile = sync.OnceValue(func() *Tokenizer {
	data, err := decompress(pileFile, pileBytes)
	if err != nil {
		panic("tokenizer: the embedded 20B vocabulary: " + err.Error()) // fixed at build time and tested
	}
	t, err := Parse("20B", data)
	if err != nil {
		panic("tokenizer: the embedded 20B vocabulary: " + err.Error()) // the same
	}
	return t
})
