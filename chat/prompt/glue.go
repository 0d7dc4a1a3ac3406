package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spaced are the scripts whose words are kept apart by spaces.
var spaced = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Hebrew, unicode.Arabic,
	unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Hangul, unicode.Ethiopic,
}

// closing is what may follow a word or a sentence without a space.
const closing = `.,;:!?)]}'"%`

// GluedTokens are the tokens that would make one word of the end of a text and
// themselves. Where the text ends in white space, or in a script that writes no
// spaces, there are none.
func (t Template) GluedTokens(text string) []int32 {
	last, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || unicode.IsSpace(last) || last > unicode.MaxASCII && !unicode.In(last, spaced...) {
		return nil
	}
	var ids []int32
	for id := int32(1); int(id) < t.Tokenizer.Size(); id++ {
		if first, _ := utf8.DecodeRune(t.Tokenizer.Bytes(id)); glues(first) {
			ids = append(ids, id)
		}
	}
	return ids
}

// glues says that a character would stick to what stands before it.
func glues(r rune) bool {
	switch {
	case r == utf8.RuneError || unicode.IsSpace(r):
		return false // a part of a character may be of any script
	case r > unicode.MaxASCII:
		return unicode.In(r, spaced...)
	}
	return !strings.ContainsRune(closing, r)
}
