package grammar

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

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
	if hi.n > 0 || hi.n == 0 && !hi.open {
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
