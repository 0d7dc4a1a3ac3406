// Package tokenizer maps text to tokens and back: the World vocabulary, a
// vocabulary in its file format, and bytes; and it assembles UTF-8 from a
// stream of token bytes.
package tokenizer
