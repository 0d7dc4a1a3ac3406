package tokenizer

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:embed world/rwkv_vocab_v20230424.txt.zst
var worldFile []byte

// worldBytes is the size of the decompressed file.
const worldBytes = 1_093_733

// World is the vocabulary of the World models: 65,529 tokens. The first call makes it;
// later ones share it.
func World() *Tokenizer { return world() }

var world = sync.OnceValue(func() *Tokenizer {
	t, err := loadWorld()
	if err != nil {
		panic("tokenizer: the embedded World vocabulary: " + err.Error()) // fixed at build time and tested
	}
	return t
})

func loadWorld() (*Tokenizer, error) {
	data, err := worldText()
	if err != nil {
		return nil, err
	}
	return Parse("World", data)
}

func worldText() ([]byte, error) { return decompress(worldFile, worldBytes) }

func decompress(file []byte, size int) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("starting zstd: %w", err)
	}
	defer d.Close()
	return d.DecodeAll(file, make([]byte, 0, size))
}

// Sizes of the vocabularies that RWKV models are known to have.
const (
	worldEntries = 65_529  // World's tokens; models have 65,536 rows, or more for speech and other additions
	worldMost    = 1 << 17 // rows of the largest World model with additions
	pileFewest   = 50_254  // 20B's merges and bytes
	pileMost     = 50_432  // 20B's 50,277 rows, padded
	byteEntries  = 256     // models that read bytes
)

// ForVocab chooses the tokenizer of a model that has none in its file, by the number
// of rows of its head. Rows from the tokenizer's Size up have no text.
func ForVocab(n int) (*Tokenizer, error) {
	switch {
	case n >= worldEntries && n <= worldMost:
		return World(), nil
	case n == byteEntries:
		return NewBytes(), nil
	case n >= pileFewest && n <= pileMost:
		return Pile(), nil
	}
	return nil, fmt.Errorf("no tokenizer is known for a vocabulary of %d; give the model's vocabulary file", n)
}
