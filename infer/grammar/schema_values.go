package grammar

import (
	"encoding/json"
	"fmt"
	"slices"
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
