package tokenizer

// A Tokenizer maps bytes to tokens by greedy longest match. It is immutable
// and safe for concurrent use.
type Tokenizer struct{}

// Encode appends the tokens of text to dst. It never fails: the vocabulary holds every byte.
func (t *Tokenizer) Encode(dst []int32, text string) []int32 { return dst }

// Bytes are the bytes of a token; nil for ids without text, such as 0. The caller must not change them.
func (t *Tokenizer) Bytes(id int32) []byte { return nil }

// Size is one more than the highest id with text.
func (t *Tokenizer) Size() int { return 0 }

// Fingerprint identifies the vocabulary.
func (t *Tokenizer) Fingerprint() string { return "" }

// Name is for people: "World", "bytes", a file's name.
func (t *Tokenizer) Name() string { return "" }
