package grammar

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// GBNF is the grammar of a text in llama.cpp's notation: rules such as
//
//	root  ::= "yes" | "no" | number
//	number ::= [1-9] [0-9]{0,3}   # a comment
//
// The rule root is the whole. Literals and classes take the escapes \n \r \t \\
// \" \[ \] \xNN \uNNNN \UNNNNNNNN; a point is any character; a part may be
// followed by * + ? {n} {n,} {n,m}. A line ends a rule unless it ends within
// parentheses or after ::= or |.
func GBNF(text string) (*Grammar, error) { return build(parseGBNF(text)) }

func parseGBNF(text string) *source {
	s := newSource()
	s.ruleNamed("root")
	switch {
	case len(text) > maxText:
		s.err = errTooLarge
	case !utf8.ValidString(text):
		s.err = errors.New("the grammar is not UTF-8 text")
	}
	p := gbnf{source: s, text: text}
	p.skip(true)
	for p.pos < len(p.text) && s.err == nil {
		p.rule()
	}
	return s
}

// A gbnf parses a grammar.
type gbnf struct {
	*source
	text  string
	pos   int
	depth int
}

// rule parses one rule.
func (p *gbnf) rule() {
	name := p.name()
	if name == "" {
		p.fault("a rule's name is missing")
		return
	}
	p.skip(false)
	if !strings.HasPrefix(p.text[p.pos:], "::=") {
		p.fault("::= is missing after " + name)
		return
	}
	p.pos += len("::=")
	p.skip(true)
	id := p.ruleNamed(name)
	if p.rules[id].defined {
		p.fault("the rule " + name + " is there twice")
		return
	}
	p.define(id, p.alternatives(false))
	if p.err == nil && p.pos < len(p.text) && p.text[p.pos] != '\n' && p.text[p.pos] != '\r' {
		p.fault("unexpected character")
	}
	p.skip(true)
}

// fault reports an error with the line it is in.
func (p *gbnf) fault(what string) fragment {
	line := 1 + strings.Count(p.text[:min(p.pos, len(p.text))], "\n")
	return p.fail("the grammar, line %d: %s", line, clip(what))
}

// skip passes blanks and comments, and ends of lines if lines holds.
func (p *gbnf) skip(lines bool) {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			p.pos++
		case c == '#':
			for p.pos < len(p.text) && p.text[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

func (p *gbnf) name() string {
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// alternatives parses sequences with | between them. In parentheses a line's
// end is a blank.
func (p *gbnf) alternatives(nested bool) fragment {
	if p.depth++; p.depth > maxNesting {
		return p.fault("the parentheses are nested too deeply")
	}
	defer func() { p.depth-- }()
	parts := []fragment{p.sequence(nested)}
	for p.err == nil && p.pos < len(p.text) && p.text[p.pos] == '|' {
		p.pos++
		p.skip(true)
		parts = append(parts, p.sequence(nested))
	}
	return p.either(parts...)
}

// sequence parses parts up to |, ) or the end of the rule.
func (p *gbnf) sequence(nested bool) fragment {
	f := p.empty()
	for p.err == nil && p.pos < len(p.text) {
		start := p.pos
		part, ok := p.part()
		if !ok {
			break
		}
		end := p.pos
		p.skip(nested)
		f = p.concat(f, p.repeated(part, start, end))
		p.skip(nested)
	}
	return f
}

// part parses a literal, a class, a point, a rule's name or parentheses; ok says
// whether there is one.
func (p *gbnf) part() (f fragment, ok bool) {
	switch c := p.text[p.pos]; {
	case c == '"':
		return p.quoted(), true
	case c == '[':
		return p.class(), true
	case c == '.':
		p.pos++
		return p.anyCharacter(), true
	case c == '(':
		p.pos++
		p.skip(true)
		f = p.alternatives(true)
		if p.err == nil && (p.pos >= len(p.text) || p.text[p.pos] != ')') {
			return p.fault(") is missing"), true
		}
		p.pos++
		return f, true
	case isNameByte(c):
		return p.call(p.ruleNamed(p.name())), true
	case c == '<' || c == '!':
		return p.fault("tokens by their ids (<[...]>) are not supported: write their text"), true
	}
	return fragment{}, false
}

// repeated parses what follows a part, which stands from start to end.
func (p *gbnf) repeated(part fragment, start, end int) fragment {
	if p.pos >= len(p.text) || p.err != nil {
		return part
	}
	again := func() fragment {
		after := p.pos
		p.pos = start
		f, _ := p.part()
		if p.err == nil && p.pos != end {
			f = p.fault("unexpected character")
		}
		p.pos = after
		return f
	}
	switch p.text[p.pos] {
	case '*':
		p.pos++
		return p.star(part)
	case '+':
		p.pos++
		return p.concat(part, p.star(again()))
	case '?':
		p.pos++
		return p.optional(part)
	case '{':
		least, most, ok := p.bounds()
		if !ok {
			return p.fault("write a number of repetitions as {n}, {n,} or {n,m}")
		}
		return p.repeat(least, most, again)
	}
	return part
}

// bounds parses {n}, {n,} and {n,m}.
func (p *gbnf) bounds() (least, most int, ok bool) {
	inner, _, found := strings.Cut(p.text[p.pos+1:], "}")
	if !found {
		return 0, 0, false
	}
	p.pos += len(inner) + 2
	low, high, both := strings.Cut(inner, ",")
	least, err := strconv.Atoi(strings.TrimSpace(low))
	if err != nil || least < 0 {
		return 0, 0, false
	}
	switch high = strings.TrimSpace(high); {
	case !both:
		return least, least, true
	case high == "":
		return least, -1, true
	}
	most, err = strconv.Atoi(high)
	return least, most, err == nil && most >= least
}

func (p *gbnf) quoted() fragment {
	f := p.empty()
	for p.pos++; p.pos < len(p.text) && p.text[p.pos] != '"'; {
		c, ok := p.character()
		if !ok {
			return p.fault("this escape is not known")
		}
		f = p.concat(f, p.literal(string(c)))
	}
	if p.pos >= len(p.text) {
		return p.fault("a closing \" is missing")
	}
	p.pos++
	return f
}

func (p *gbnf) class() fragment {
	p.pos++
	negated := p.pos < len(p.text) && p.text[p.pos] == '^'
	if negated {
		p.pos++
	}
	var spans []span
	for p.pos < len(p.text) && p.text[p.pos] != ']' {
		lo, ok := p.character()
		hi := lo
		if ok && p.pos+1 < len(p.text) && p.text[p.pos] == '-' && p.text[p.pos+1] != ']' {
			p.pos++
			hi, ok = p.character()
		}
		if !ok || hi < lo {
			return p.fault("this escape or range is not valid")
		}
		spans = append(spans, span{lo, hi})
	}
	if p.pos >= len(p.text) {
		return p.fault("a closing ] is missing")
	}
	p.pos++
	if negated {
		spans = without(spans)
	}
	return p.characters(spans...)
}

// character parses one character or escape.
func (p *gbnf) character() (rune, bool) {
	c, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	if c != '\\' || p.pos >= len(p.text) {
		return c, c != '\\'
	}
	c = rune(p.text[p.pos])
	p.pos++
	switch c {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case '\\', '"', '[', ']', '-', '^':
		return c, true
	}
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 || p.pos+digits > len(p.text) {
		return 0, false
	}
	value, err := strconv.ParseUint(p.text[p.pos:p.pos+digits], 16, 32)
	p.pos += digits
	return rune(value), err == nil && utf8.ValidRune(rune(value))
}
