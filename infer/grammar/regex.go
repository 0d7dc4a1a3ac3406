package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// Regex is the grammar of the texts that a regular expression matches as a
// whole, in the syntax of Go's package regexp. Word boundaries and anchors
// inside the expression are refused.
func Regex(expression string) (*Grammar, error) { return build(parseRegex(expression)) }

func parseRegex(expression string) *source {
	s := newSource()
	root := s.ruleNamed("root")
	body, err := s.regex(expression, false, s.characters)
	if s.err == nil {
		s.err = err
	}
	s.define(root, body)
	return s
}

// regex is an expression as a fragment. If search holds, the text may go on
// before and after what it matches, unless it is anchored. Characters makes
// the automaton of one character of some spans.
func (s *source) regex(expression string, search bool, characters func(...span) fragment) (fragment, error) {
	if len(expression) > maxText {
		return fragment{}, errTooLarge
	}
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return fragment{}, fmt.Errorf("the regular expression %q: %w", clip(expression), err)
	}
	t := translation{source: s, characters: characters}
	parts, begins, ends := unanchored(re)
	body := t.all(parts, 0)
	if search && !begins {
		body = s.concat(s.star(characters(span{0, unicode.MaxRune})), body)
	}
	if search && !ends {
		body = s.concat(body, s.star(characters(span{0, unicode.MaxRune})))
	}
	if t.err != nil {
		return fragment{}, fmt.Errorf("the regular expression %q: %w", clip(expression), t.err)
	}
	return body, nil
}

// unanchored is an expression without anchors at its begin and end, and whether
// it had them.
func unanchored(re *syntax.Regexp) (parts []*syntax.Regexp, begins, ends bool) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	parts = []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	for len(parts) > 0 && (parts[0].Op == syntax.OpBeginText || parts[0].Op == syntax.OpBeginLine) {
		parts, begins = parts[1:], true
	}
	for len(parts) > 0 && (parts[len(parts)-1].Op == syntax.OpEndText || parts[len(parts)-1].Op == syntax.OpEndLine) {
		parts, ends = parts[:len(parts)-1], true
	}
	return parts, begins, ends
}

// A translation turns a parsed expression into a fragment.
type translation struct {
	*source
	characters func(...span) fragment
	err        error
}

var (
	errAnchor   = errors.New("^ and $ can only stand at its begin and end: leave them out, the whole text is matched")
	errBoundary = errors.New(`\b and \B are not supported: name the characters that may come before and after`)
)

func (t *translation) all(parts []*syntax.Regexp, depth int) fragment {
	f := t.empty()
	for _, part := range parts {
		f = t.concat(f, t.one(part, depth))
	}
	return f
}

func (t *translation) one(re *syntax.Regexp, depth int) fragment {
	if depth > maxNesting {
		t.err = errTooLarge
	}
	if t.err != nil {
		return t.empty()
	}
	sub := func() fragment { return t.one(re.Sub[0], depth+1) }
	switch re.Op {
	case syntax.OpNoMatch:
		return t.nothing()
	case syntax.OpEmptyMatch:
		return t.empty()
	case syntax.OpLiteral:
		f := t.empty()
		for _, c := range re.Rune {
			f = t.concat(f, t.characters(sameLetters(c, re.Flags&syntax.FoldCase != 0)...))
		}
		return f
	case syntax.OpCharClass:
		var spans []span
		for i := 0; i+1 < len(re.Rune); i += 2 {
			spans = append(spans, span{re.Rune[i], re.Rune[i+1]})
		}
		return t.characters(spans...)
	case syntax.OpAnyCharNotNL:
		return t.characters(span{0, '\n' - 1}, span{'\n' + 1, utf8.MaxRune})
	case syntax.OpAnyChar:
		return t.characters(span{0, utf8.MaxRune})
	case syntax.OpCapture:
		return sub()
	case syntax.OpStar:
		return t.star(sub())
	case syntax.OpPlus:
		return t.repeat(1, -1, sub)
	case syntax.OpQuest:
		return t.optional(sub())
	case syntax.OpRepeat:
		return t.repeat(re.Min, re.Max, sub)
	case syntax.OpConcat:
		return t.all(re.Sub, depth+1)
	case syntax.OpAlternate:
		var parts []fragment
		for _, part := range re.Sub {
			parts = append(parts, t.one(part, depth+1))
		}
		return t.either(parts...)
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		t.err = errBoundary
	default:
		t.err = errAnchor
	}
	return t.empty()
}

// sameLetters are the spans of a character, and of its other cases if fold holds.
func sameLetters(c rune, fold bool) []span {
	spans := []span{{c, c}}
	for other := unicode.SimpleFold(c); fold && other != c; other = unicode.SimpleFold(other) {
		spans = append(spans, span{other, other})
	}
	return spans
}
