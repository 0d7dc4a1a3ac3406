// Package tokenizer maps text to tokens and back: the World vocabulary, a
// vocabulary in its file format, and bytes; and it assembles UTF-8 from a
// stream of token bytes.
//
// RWKV-4's 20B tokenizer is byte-level BPE instead, as the tokenizers package has it:
// see bpe.go. What follows is about the others.
//
// Encoding is greedy: it takes the longest token that starts at a position and goes
// on after it. There are no merges, no normalisation and no special tokens. Every
// vocabulary has the 256 single bytes, so every byte string can be encoded, and
// decoding gives it back exactly.
//
// Text before a separator can change its tokens: "。\n\n" is ["。\n", "\n"], not
// ["。", "\n\n"]. A caller that needs a separator as a token of its own encodes it
// separately.
package tokenizer
