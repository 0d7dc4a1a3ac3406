package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is what the words of GPT-2 consist of.
type class uint8

const (
	letter class = iota
	number
	space
	other // punctuation, symbols, and bytes that are no characters
)

func classOf(r rune, size int) class {
	switch {
	case r == utf8.RuneError && size == 1:
		return other
	case unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.L, r):
		return letter
	case unicode.Is(unicode.N, r):
		return number
	}
	return other
}

// contractions are words of their own.
var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// wordLen is the length of the first word of a text that is not empty. Words are
// those of GPT-2's expression
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func wordLen(text string) int {
	for _, c := range contractions {
		if strings.HasPrefix(text, c) {
			return len(c)
		}
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if start < len(text) {
		r, size := utf8.DecodeRuneInString(text[start:])
		if kind := classOf(r, size); kind != space {
			return start + run(text[start:], kind)
		}
	}
	n := run(text, space)
	if n == len(text) {
		return n
	}
	// The last space belongs to the next word, if there are others before it.
	_, size := utf8.DecodeLastRuneInString(text[:n])
	if n > size {
		return n - size
	}
	return n
}

// run is the length of the characters of a class at the beginning.
func run(text string, kind class) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if classOf(r, size) != kind {
			return i
		}
		i += size
	}
	return len(text)
}
