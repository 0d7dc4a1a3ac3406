package grammar

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// formats are the formats of strings that are kept to, as expressions of the
// whole string. Others are refused. Dates are of the proleptic Gregorian
// calendar without 29 February (RFC 3339, section 5.6).
var formats = map[string]string{
	"date":      date,
	"time":      clock,
	"date-time": date + "T" + clock,
	"uuid":      "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
	"ipv4":      octet + `\.` + octet + `\.` + octet + `\.` + octet,
	"email":     `[a-zA-Z0-9_+-]{1,20}(\.[a-zA-Z0-9_+-]{1,20}){0,2}@([a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?\.){1,4}[a-zA-Z]{2,24}`,
}

const (
	date  = `[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))`
	clock = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`
	octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
)

// text is a string of a schema, in quotes.
func (c *schemaCompiler) text(s *ordered, place string) fragment {
	least, most, ok := c.bounds(s, place, "minLength", "maxLength")
	if !ok {
		return c.empty()
	}
	expression, search := "", false
	for _, keyword := range []string{"pattern", "format"} {
		v, has := s.values[keyword]
		if !has {
			continue
		}
		value, isText := v.(string)
		switch {
		case !isText:
			return c.refuse(place, keyword, "it must be a text")
		case expression != "" || least > 0 || most >= 0:
			return c.refuse(place, keyword, "it is not supported beside minLength, maxLength and pattern: say all of it in one pattern")
		}
		expression, search = value, keyword == "pattern"
		if keyword == "format" {
			if expression, ok = formats[value]; !ok {
				return c.refuse(place, keyword, fmt.Sprintf("the format %s is not supported: use a pattern", clip(value)))
			}
		}
	}
	if expression != "" {
		body, err := c.regex(expression, search, c.characterInString)
		if err != nil {
			return c.refuse(place, "pattern", err.Error())
		}
		return c.concat(c.literal(`"`), body, c.literal(`"`))
	}
	if least == 0 && most < 0 {
		return c.shared("string", func() fragment {
			return c.concat(c.literal(`"`), c.star(c.anyInString()), c.literal(`"`))
		})
	}
	return c.concat(c.literal(`"`), c.repeat(least, most, c.anyInString), c.literal(`"`))
}

// The escapes of JSON that are one letter, by the character.
var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// anyInString is one character of a string, in any of its forms but pairs of
// surrogates.
func (c *schemaCompiler) anyInString() fragment {
	hex := func(n int) fragment {
		return c.repeat(n, n, func() fragment {
			return c.characters(span{'0', '9'}, span{'A', 'F'}, span{'a', 'f'})
		})
	}
	surrogate := span{'D', 'D'} // and d: then the next digit is below 8
	first := c.characters(without([]span{{0, '0' - 1}, {'9' + 1, 'A' - 1}, surrogate, {'F' + 1, 'a' - 1}, {'d', 'd'}, {'f' + 1, utf8.MaxRune}})...)
	code := c.either(
		c.concat(first, hex(3)),
		c.concat(c.characters(surrogate, span{'d', 'd'}), c.digits('0', '7'), hex(2)),
	)
	return c.either(
		c.characterInString(span{0, utf8.MaxRune}),
		c.literal(`\/`),
		c.concat(c.literal(`\u`), code),
	)
}

// characterInString is one character of the spans in a string: as it is, or as
// the escape that it needs.
func (c *schemaCompiler) characterInString(spans ...span) fragment {
	const firstPlain = ' '
	special := []span{{0, firstPlain - 1}, {'"', '"'}, {'\\', '\\'}}
	parts := []fragment{c.characters(without(append(without(spans), special...))...)}
	has := func(r rune) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.lo <= r && r <= s.hi })
	}
	for _, s := range special {
		for r := s.lo; r <= s.hi; r++ {
			text, short := escapes[r]
			if !short {
				text = fmt.Sprintf(`\u%04x`, r)
			}
			if has(r) {
				parts = append(parts, c.literal(text))
			}
		}
	}
	return c.either(parts...)
}

// keyExcept is the rest of a key after its opening quote, closing quote
// included, that is none of some names.
func (c *schemaCompiler) keyExcept(names []string) fragment {
	f := fragment{c.node(), c.node()}
	c.addKeys(f, names)
	return f
}

func (c *schemaCompiler) addKeys(f fragment, names []string) {
	var next []span
	rest := map[rune][]string{}
	taken := false // a name ends here
	for _, name := range names {
		if name == "" {
			taken = true
			continue
		}
		r, size := utf8.DecodeRuneInString(name)
		if _, seen := rest[r]; !seen {
			next = append(next, span{r, r})
		}
		rest[r] = append(rest[r], name[size:])
	}
	if !taken {
		c.connect(f.start, c.literal(`"`), f.end)
	}
	others := c.concat(c.characterInString(without(next)...), c.star(c.anyInString()), c.literal(`"`))
	c.connect(f.start, others, f.end)
	for _, s := range next {
		if c.err != nil {
			return
		}
		child := c.characterInString(s)
		c.jump(f.start, child.start)
		c.addKeys(fragment{child.end, f.end}, rest[s.lo])
	}
}
