package sessions

import (
	"strings"
	"unicode"
)

// padding follows a text in the index: with it, the last two characters of a
// text begin an entry like all others. It occurs in no folded text.
const padding = "\x01\x01"

// fold makes text comparable: lower case, any white space one space, wide
// Latin letters and signs narrow. It maps every character to one character, so
// that places in the folded text are places in the text.
func fold(text string) string { return strings.Map(foldRune, text) }

func foldRune(r rune) rune {
	const wideFirst, wideLast, narrowFirst = '！', '～', '!'
	switch {
	case r >= wideFirst && r <= wideLast:
		r += narrowFirst - wideFirst
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return ' '
	}
	return unicode.ToLower(r)
}

// foldRunes is fold for one who needs places.
func foldRunes(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		runes[i] = foldRune(r)
	}
	return runes
}

// trigrams are the different entries of three characters that the index has of
// a folded text, in the order of their first place.
func trigrams(folded string, visit func(entry string)) {
	runes := []rune(folded)
	seen := make(map[string]bool, len(runes))
	for i := 0; i+3 <= len(runes); i++ {
		entry := string(runes[i : i+3])
		if !seen[entry] {
			seen[entry] = true
			visit(entry)
		}
	}
}
