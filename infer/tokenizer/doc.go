// Package tokenizer maps text to tokens and back: the World vocabulary, a
// vocabulary in its file format, and bytes; and it assembles UTF-8 from a
// stream of token bytes.
//
// Encoding is greedy: the longest token that starts at a position is taken,
// and encoding goes on after it. There are no merges, no normalisation and no
// special tokens. Every vocabulary holds the 256 single bytes, so every byte
// string can be encoded, and decoding gives it back exactly.
//
// A boundary moves tokens: "。\n\n" is ["。\n", "\n"], not ["。", "\n\n"].
// Callers that need a separator to be a token of its own encode it apart.
package tokenizer
