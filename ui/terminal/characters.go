package terminal

import "unicode"

// The characters that stay only in their places.
const (
	zeroWidthNonJoiner = 0x200c
	zeroWidthJoiner    = 0x200d

	// A flag of a region is a black flag, the tags of its name, and an end.
	blackFlag            = 0x1f3f4
	cancelTag            = 0xe007f
	fewestTags, mostTags = 3, 6
)

func isTag(r rune) bool {
	const first = 0xe0000
	return r >= first+'a' && r <= first+'z' || r >= first+'0' && r <= first+'9'
}

// isControl says that a terminal acts on a character: 0x9b is as good as ESC [.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// isDirection says that a character reorders what stands around it.
func isDirection(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// signs are characters of the class of format characters that are seen.
var signs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x0600, 0x0605, 1}, {0x06dd, 0x06dd, 1}, {0x070f, 0x070f, 1}, {0x0890, 0x0891, 1}, {0x08e2, 0x08e2, 1}},
	R32: []unicode.Range32{{0x110bd, 0x110bd, 1}, {0x110cd, 0x110cd, 1}},
}

// isHidden says that nobody sees a character: those of no width, directions,
// fillers, tags, and what is no character at all.
func isHidden(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0,
		r >= 0x2060 && r <= 0x206f, r >= 0xfff0 && r <= 0xfff8, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(signs, r)
}

// isSelector says that a character chooses the form of the one before it.
func isSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0x180b && r <= 0x180f && r != 0x180e || r >= 0xe0100 && r <= 0xe01ef
}

// selects says that a character has forms to choose from: one selector stays
// where the text has any use for it, and a row of them is hidden text.
func selects(before, selector rune) bool {
	switch {
	case selector >= 0xe0100:
		return unicode.Is(unicode.Han, before)
	case selector < 0x1900:
		return unicode.Is(unicode.Mongolian, before)
	}
	return isPictured(before) || unicode.IsOneOf([]*unicode.RangeTable{unicode.Han, unicode.Myanmar, unicode.Sm, unicode.Phags_Pa}, before) ||
		before >= '0' && before <= '9' || before == '#' || before == '*'
}

// isPictured says that a character is an emoji, or one that can be shown as one.
func isPictured(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x27bf, r >= 0x2b00 && r <= 0x2bff:
		return true
	case r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x2122, r == 0x2139, r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299:
		return true
	}
	return false
}

// joining are the scripts whose letters join, or are kept from joining.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
	unicode.Inherited, // marks above and below
}

// joins says that a joiner has something to join, or to keep apart.
func joins(before, joiner, after rune) bool {
	if joiner == zeroWidthJoiner && isPictured(after) {
		return isPictured(before) || before == 0xfe0f || before == cancelTag
	}
	if !unicode.IsOneOf(joining, before) || isSelector(before) {
		return false
	}
	return unicode.IsOneOf(joining, after) || unicode.Is(unicode.Mn, before) // a letter cut short ends a word
}
