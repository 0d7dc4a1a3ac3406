package grammar

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// indent is up to how many blanks a line of JSON begins with.
const indent = 24

// space is the blanks that may stand between the parts of a value: none, one,
// or the end of a line and what the next begins with.
func (c *schemaCompiler) space() fragment {
	return c.shared("blanks", func() fragment {
		return c.optional(c.either(c.literal(" "), c.concat(c.literal("\n"), c.repeat(0, indent, func() fragment { return c.literal(" ") }))))
	})
}

// shared calls a rule that is defined when it is asked for first.
func (c *schemaCompiler) shared(name string, body func() fragment) fragment {
	_, known := c.named[name]
	id := c.ruleNamed(name)
	if !known {
		c.define(id, body())
	}
	return c.call(id)
}

// anyValue is any JSON value.
func (c *schemaCompiler) anyValue() fragment {
	return c.shared("value", func() fragment {
		free := &ordered{}
		return c.either(
			c.object(free, "#", 0), c.array(free, "#", 0), c.text(free, "#"), c.number("number", free, "#"),
			c.literal("true"), c.literal("false"), c.literal("null"),
		)
	})
}

// object is an object with the properties of a schema in their order, and then
// others if the schema allows them.
func (c *schemaCompiler) object(s *ordered, place string, depth int) fragment {
	properties, ok := s.values["properties"].(*ordered)
	if _, has := s.values["properties"]; has && !ok {
		return c.refuse(place, "properties", "it must be an object")
	}
	if properties == nil {
		properties = &ordered{}
	}
	required, err := names(s.values["required"])
	if err != nil {
		return c.refuse(place, "required", err.Error())
	}
	additional, has := s.values["additionalProperties"]
	if !has {
		additional = len(properties.keys) == 0
	}
	least, most, ok := c.bounds(s, place, "minProperties", "maxProperties")
	switch {
	case !ok:
		return c.empty()
	case (least > 0 || most >= 0) && len(properties.keys) > 0:
		return c.refuse(place, "minProperties", "a number of properties is not supported beside properties: use required")
	}
	keys := slices.Clone(properties.keys)
	for _, name := range required {
		if !slices.Contains(keys, name) {
			keys = append(keys, name) // its value is what additional properties are
		}
	}
	// first and then have the position before each property: nothing stands
	// before it in the object, or something does.
	start := c.concat(c.literal("{"), c.space())
	first, then := start.end, c.node()
	closing := c.node()
	for i, key := range keys {
		value, declared := properties.values[key]
		if !declared {
			value = additional
		}
		place := place + "/properties/" + key
		member := func() fragment {
			return c.concat(c.literal(quote(key)+":"), c.optional(c.literal(" ")), c.ruleOf(value, place, depth))
		}
		nextFirst, nextThen := c.node(), c.node()
		c.connect(first, member(), nextThen)
		if i > 0 {
			c.connect(then, c.concat(c.comma(), member()), nextThen)
		}
		if !slices.Contains(required, key) {
			c.jump(first, nextFirst)
			c.jump(then, nextThen)
		}
		first, then = nextFirst, nextThen
	}
	if additional != false {
		member := func() fragment {
			return c.concat(c.literal(`"`), c.keyExcept(keys), c.literal(":"), c.optional(c.literal(" ")),
				c.ruleOf(additional, place+"/additionalProperties", depth))
		}
		least = max(least-len(keys), 0)
		more := func() fragment { return c.concat(c.comma(), member()) }
		if least == 0 {
			c.jump(first, closing)
			least = 1
		}
		if most != 0 {
			c.connect(first, c.concat(member(), c.repeat(least-1, max(most-1, -1), more), c.space()), closing)
		}
		if len(keys) > 0 {
			c.connect(then, c.concat(c.star(more()), c.space()), closing)
		}
	} else {
		c.jump(first, closing)
		c.connect(then, c.space(), closing)
	}
	end := c.node()
	c.edge(closing, '}', '}', end)
	return fragment{start.start, end}
}

// connect puts a fragment between two nodes.
func (c *schemaCompiler) connect(from int32, f fragment, to int32) {
	c.jump(from, f.start)
	c.jump(f.end, to)
}

func (c *schemaCompiler) comma() fragment { return c.concat(c.literal(","), c.space()) }

// ruleOf is a schema as a rule of its own, so that it can be repeated cheaply.
func (c *schemaCompiler) ruleOf(v any, place string, depth int) fragment {
	if v == true {
		return c.anyValue()
	}
	name := "schema " + place
	_, known := c.named[name]
	id := c.ruleNamed(name)
	if !known {
		c.define(id, c.schema(v, place, depth+1))
	}
	return c.call(id)
}

// names is a list of texts.
func names(v any) (list []string, err error) {
	values, ok := v.([]any)
	if v != nil && !ok {
		return nil, fmt.Errorf("it must be a list of names")
	}
	for _, value := range values {
		name, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("it must be a list of names")
		}
		list = append(list, name)
	}
	return list, nil
}

// bounds are the numbers of two keywords; most is -1 if there is no limit.
func (c *schemaCompiler) bounds(s *ordered, place, low, high string) (least, most int, ok bool) {
	most = -1
	for _, keyword := range []string{low, high} {
		v, has := s.values[keyword]
		if !has {
			continue
		}
		number, isNumber := v.(json.Number)
		n, err := number.Int64()
		if !isNumber || err != nil || n < 0 {
			c.refuse(place, keyword, "it must be a whole number from 0 up")
			return 0, 0, false
		}
		n = min(n, maxNodes)
		if keyword == low {
			least = int(n)
		} else {
			most = int(n)
		}
	}
	if most >= 0 && most < least {
		c.refuse(place, high, "it is below "+low)
		return 0, 0, false
	}
	return least, most, true
}

// array is an array of a schema.
func (c *schemaCompiler) array(s *ordered, place string, depth int) fragment {
	least, most, ok := c.bounds(s, place, "minItems", "maxItems")
	if !ok {
		return c.empty()
	}
	prefix, ok := s.values["prefixItems"].([]any)
	if _, has := s.values["prefixItems"]; has && !ok {
		return c.refuse(place, "prefixItems", "it must be a list of schemas")
	}
	items, has := s.values["items"]
	if !has {
		items = true
	}
	start := c.concat(c.literal("["), c.space())
	at, closing := start.end, c.node()
	item := func(i int) fragment {
		if i < len(prefix) {
			return c.ruleOf(prefix[i], fmt.Sprintf("%s/prefixItems/%d", place, i), depth)
		}
		return c.ruleOf(items, place+"/items", depth)
	}
	// The items up to the prefix and the least number, each by itself, then the rest.
	singles := max(least, len(prefix))
	if most >= 0 {
		singles = min(singles, most)
	}
	for i := range singles {
		if i >= least {
			c.leave(at, i, closing)
		}
		if c.err != nil {
			return start
		}
		part := item(i)
		if i > 0 {
			part = c.concat(c.comma(), part)
		}
		next := c.node()
		c.connect(at, part, next)
		at = next
	}
	c.leave(at, singles, closing)
	if items != false && (most < 0 || most > singles) {
		rest := func() fragment { return c.concat(c.comma(), item(singles)) }
		more, limit := c.empty(), -1
		if most >= 0 {
			limit = most - singles
		}
		if singles == 0 {
			more, limit = item(0), max(limit-1, -1)
		}
		c.connect(at, c.concat(more, c.repeat(0, limit, rest), c.space()), closing)
	}
	end := c.node()
	c.edge(closing, ']', ']', end)
	return fragment{start.start, end}
}

// leave ends an array after n items.
func (c *schemaCompiler) leave(at int32, n int, closing int32) {
	if n == 0 { // the blanks after [ are enough
		c.jump(at, closing)
		return
	}
	c.connect(at, c.space(), closing)
}

// Digits of a number without bounds.
const (
	wholeDigits    = 15
	fractionDigits = 15
)

// number is a number within the bounds of a schema.
func (c *schemaCompiler) number(t string, s *ordered, place string) fragment {
	lo, hi := limit{n: -maxWhole}, limit{n: maxWhole}
	bounded := false
	for _, keyword := range typeKeywords["number"] {
		v, has := s.values[keyword]
		if !has {
			continue
		}
		x, ok := v.(json.Number)
		value, err := x.Float64()
		if !ok || err != nil || math.Abs(value) > maxWhole {
			return c.refuse(place, keyword, fmt.Sprintf("it must be a number between -%d and %d", int64(maxWhole), int64(maxWhole)))
		}
		if value != math.Trunc(value) && t == "number" {
			return c.refuse(place, keyword, "only whole bounds of numbers are supported")
		}
		bounded = true
		open := strings.HasPrefix(keyword, "exclusive")
		if strings.HasSuffix(strings.ToLower(keyword), "minimum") {
			lo = lo.stricter(limit{int64(math.Ceil(value)), open && value == math.Trunc(value)}, 1)
		} else {
			hi = hi.stricter(limit{int64(math.Floor(value)), open && value == math.Trunc(value)}, -1)
		}
	}
	whole := t == "integer"
	if whole {
		if lo.open {
			lo = limit{n: lo.n + 1}
		}
		if hi.open {
			hi = limit{n: hi.n - 1}
		}
	}
	if lo.n > hi.n || lo.n == hi.n && (lo.open || hi.open) {
		return c.refuse(place, "minimum", "no number lies between the bounds")
	}
	if !bounded {
		return c.shared(t, func() fragment { return c.freeNumber(whole) })
	}
	var parts []fragment
	if hi.n >= 0 && !(hi.n == 0 && hi.open) {
		from := lo
		if lo.n < 0 {
			from = limit{}
		}
		parts = append(parts, c.between(from, hi, whole))
	}
	if lo.n < 0 {
		from := limit{n: -hi.n, open: hi.open}
		if hi.n >= 0 { // zero has no sign
			from = limit{open: true}
		}
		parts = append(parts, c.concat(c.literal("-"), c.between(from, limit{-lo.n, lo.open}, whole)))
	}
	return c.either(parts...)
}

// maxWhole is the largest bound of a number: float64 has it exactly.
const maxWhole = 1e15 - 1

// A limit is a bound of a number, itself excluded if it is open.
type limit struct {
	n    int64
	open bool
}

// stricter is the larger of two limits, or with sign -1 the smaller.
func (l limit) stricter(other limit, sign int64) limit {
	if other.n*sign > l.n*sign || other.n == l.n && other.open {
		return other
	}
	return l
}

// freeNumber is any number, with bounded digits.
func (c *schemaCompiler) freeNumber(whole bool) fragment {
	sign := c.optional(c.literal("-"))
	digits := c.either(c.literal("0"), c.concat(c.digits('1', '9'), c.repeat(0, wholeDigits-1, c.digit)))
	if whole {
		return c.concat(sign, digits)
	}
	e := c.either(c.literal("e"), c.literal("E"))
	exponent := c.concat(e, c.optional(c.either(c.literal("+"), c.literal("-"))), c.repeat(1, 2, c.digit))
	return c.concat(sign, digits, c.optional(c.fraction()), c.optional(exponent))
}

func (c *schemaCompiler) digit() fragment { return c.digits('0', '9') }

func (c *schemaCompiler) digits(lo, hi byte) fragment { return c.characters(span{rune(lo), rune(hi)}) }

func (c *schemaCompiler) fraction() fragment {
	return c.concat(c.literal("."), c.repeat(1, fractionDigits, c.digit))
}

// between is a number without sign from lo to hi.
func (c *schemaCompiler) between(lo, hi limit, whole bool) fragment {
	if whole {
		from := lo.n
		if lo.open {
			from++
		}
		return c.wholeBetween(from, hi.n)
	}
	var parts []fragment
	if lo.n+1 <= hi.n-1 {
		parts = append(parts, c.concat(c.wholeBetween(lo.n+1, hi.n-1), c.optional(c.fraction())))
	}
	zeros := func() fragment {
		return c.optional(c.concat(c.literal("."), c.repeat(1, fractionDigits, func() fragment { return c.literal("0") })))
	}
	text := fmt.Sprint(lo.n)
	switch {
	case lo.n == hi.n:
	case lo.open: // some digit of the fraction is not zero
		some := c.repeat(0, fractionDigits-1, func() fragment { return c.literal("0") })
		parts = append(parts, c.concat(c.literal(text+"."), some, c.digits('1', '9'), c.repeat(0, fractionDigits-1, c.digit)))
	default:
		parts = append(parts, c.concat(c.literal(text), c.optional(c.fraction())))
	}
	if !hi.open && (lo.n < hi.n || !lo.open) {
		parts = append(parts, c.concat(c.literal(fmt.Sprint(hi.n)), zeros()))
	}
	return c.either(parts...)
}

// wholeBetween is a whole number from lo to hi, both from 0 up.
func (c *schemaCompiler) wholeBetween(lo, hi int64) fragment {
	if lo > hi {
		return c.nothing()
	}
	var parts []fragment
	a, b := fmt.Sprint(lo), fmt.Sprint(hi)
	for n := len(a); n <= len(b); n++ {
		from, to := a, b
		if n > len(a) {
			from = "1" + strings.Repeat("0", n-1)
		}
		if n < len(b) {
			to = strings.Repeat("9", n)
		}
		parts = append(parts, c.sameLength(from, to))
	}
	return c.either(parts...)
}

// sameLength is the digits from one text to another of the same length.
func (c *schemaCompiler) sameLength(from, to string) fragment {
	n := len(from)
	switch {
	case n == 0:
		return c.empty()
	case from == strings.Repeat("0", n) && to == strings.Repeat("9", n):
		return c.repeat(n, n, c.digit)
	case from[0] == to[0]:
		return c.concat(c.literal(from[:1]), c.sameLength(from[1:], to[1:]))
	}
	parts := []fragment{
		c.concat(c.literal(from[:1]), c.sameLength(from[1:], strings.Repeat("9", n-1))),
		c.concat(c.literal(to[:1]), c.sameLength(strings.Repeat("0", n-1), to[1:])),
	}
	if from[0]+1 <= to[0]-1 {
		parts = append(parts, c.concat(c.digits(from[0]+1, to[0]-1), c.repeat(n-1, n-1, c.digit)))
	}
	return c.either(parts...)
}
