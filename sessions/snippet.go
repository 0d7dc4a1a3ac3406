package sessions

import (
	"slices"
	"strings"
	"unicode"
)

const (
	snippetRunes  = 120 // of a snippet, about
	snippetBefore = 30  // of them before the first match
	ellipsis      = '…'
)

// A stretch is a part of a text, in characters, end not included.
type stretch struct{ from, to int }

// snippet is the words around the first match on one line, and which bytes of
// it match. A place where the query stands as it is goes before one where a
// word of it does.
func (q wanted) snippet(text string) (string, [][2]int) {
	runes := []rune(text)
	folded := foldRunes(text)
	matches := q.places(folded)
	if len(matches) == 0 {
		return "", nil
	}
	first := matches[0]
	if at := indexRunes(folded, []rune(q.phrase), 0); at >= 0 {
		first = stretch{at, at + len([]rune(q.phrase))}
	}
	show := window(runes, first)
	var b strings.Builder
	var marks [][2]int
	if show.from > 0 {
		b.WriteRune(ellipsis)
	}
	next, space := 0, true
	for i := show.from; i < show.to; i++ {
		for next < len(matches) && matches[next].to <= i {
			next++
		}
		blank := unicode.IsSpace(runes[i]) || unicode.IsControl(runes[i])
		if blank && space {
			continue
		}
		at := b.Len()
		if space = blank; blank {
			b.WriteByte(' ')
		} else {
			b.WriteRune(runes[i])
		}
		if next < len(matches) && matches[next].from <= i {
			if n := len(marks); n > 0 && marks[n-1][1] == at {
				marks[n-1][1] = b.Len()
			} else {
				marks = append(marks, [2]int{at, b.Len()})
			}
		}
	}
	if show.to < len(runes) {
		b.WriteRune(ellipsis)
	}
	return b.String(), marks
}

// places are where the words stand, in order and joined where they overlap.
func (q wanted) places(folded []rune) []stretch {
	const atMost = 1000 // of each word
	var all []stretch
	for _, word := range q.words {
		w := []rune(word)
		at := 0
		for range atMost {
			if at = indexRunes(folded, w, at); at < 0 {
				break
			}
			all = append(all, stretch{at, at + len(w)})
			at += len(w)
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return a.from - b.from })
	var joined []stretch
	for _, p := range all {
		if n := len(joined); n > 0 && p.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, p.to)
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

// window is what is shown around a match: it begins at a word if one is near.
func window(runes []rune, match stretch) stretch {
	from := max(match.from-snippetBefore, 0)
	if from > 0 {
		for i := from; i < min(from+snippetBefore/2, match.from); i++ {
			if unicode.IsSpace(runes[i]) {
				from = i + 1
				break
			}
		}
	}
	return stretch{from, min(max(from+snippetRunes, min(match.to, match.from+2*snippetRunes)), len(runes))}
}

// indexRunes is where needle stands in text at or after a place; -1: nowhere.
func indexRunes(text, needle []rune, from int) int {
	if len(needle) == 0 {
		return -1
	}
	for i := from; i+len(needle) <= len(text); i++ {
		if text[i] == needle[0] && slices.Equal(text[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}
