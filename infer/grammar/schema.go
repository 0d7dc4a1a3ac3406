package grammar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSONSchema is the grammar of the JSON values that a schema (draft 2020-12)
// describes. Properties come in the order of the schema. Where a schema has
// properties and says nothing of additionalProperties, there are none: that is
// a subset of what the schema allows, as are bounded numbers, and blanks only
// after , : and beside brackets. A keyword that is not supported is an error
// that names it and where it stands; none is ignored but annotations.
func JSONSchema(data []byte) (*Grammar, error) { return build(parseSchema(data)) }

func parseSchema(data []byte) *source {
	c := schemaCompiler{source: newSource()}
	if len(data) > maxText {
		c.err = errTooLarge
		return c.source
	}
	v, err := decodeOrdered(data)
	if err != nil {
		c.err = fmt.Errorf("the JSON schema: %w", err)
		return c.source
	}
	c.document = v
	root := c.ruleNamed("#")
	c.define(root, c.schema(v, "#", 0))
	return c.source
}

// A schemaCompiler turns a schema into rules. Places are JSON pointers.
type schemaCompiler struct {
	*source
	document any
}

// annotations are the keywords that forbid nothing.
var annotations = []string{
	"$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
}

// typeKeywords are the types by what they are constrained with.
var typeKeywords = map[string][]string{
	"object":  {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
	"array":   {"items", "prefixItems", "minItems", "maxItems"},
	"string":  {"minLength", "maxLength", "pattern", "format"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
	"boolean": nil,
	"null":    nil,
}

// refuse reports a keyword that cannot be kept to.
func (c *schemaCompiler) refuse(place, keyword, why string) fragment {
	if why == "" {
		why = "this keyword is not supported"
	}
	return c.fail("the JSON schema, %s: %q: %s", clip(place), clip(keyword), why)
}

// only refuses the keywords beside some. It says whether there are none.
func (c *schemaCompiler) only(s *ordered, place, beside string, allowed ...string) bool {
	for _, k := range s.keys {
		if !slices.Contains(annotations, k) && !slices.Contains(allowed, k) {
			c.refuse(place, k, "this keyword is not supported"+beside)
			return false
		}
	}
	return true
}

// schema is what matches a schema.
func (c *schemaCompiler) schema(v any, place string, depth int) fragment {
	if depth > maxNesting {
		return c.fail("the JSON schema is nested too deeply at %s", clip(place))
	}
	if c.err != nil {
		return c.empty()
	}
	if allowed, ok := v.(bool); ok {
		if allowed {
			return c.anyValue()
		}
		return c.nothing()
	}
	s, ok := v.(*ordered)
	if !ok {
		return c.fail("the JSON schema, %s: a schema is an object, true or false", clip(place))
	}
	for _, keyword := range []string{"$ref", "anyOf", "oneOf", "allOf", "const", "enum"} {
		if value, ok := s.values[keyword]; ok {
			beside := " beside " + keyword
			switch keyword {
			case "$ref":
				if c.only(s, place, beside, keyword) {
					return c.reference(value, place, depth)
				}
			case "anyOf", "oneOf", "allOf":
				if c.only(s, place, beside, keyword) {
					return c.alternatives(keyword, value, place, depth)
				}
			default:
				if c.only(s, place, beside, keyword, "type") {
					return c.values(s, keyword, value, place)
				}
			}
			return c.empty()
		}
	}
	types, ok := c.typesOf(s, place)
	if !ok {
		return c.empty()
	}
	if len(types) == 0 {
		return c.anyValue()
	}
	var parts []fragment
	for _, t := range types {
		parts = append(parts, c.ofType(t, s, place, depth))
	}
	return c.either(parts...)
}

// typesOf are the types that a schema allows: those it names, or those that its
// keywords are about. None means all.
func (c *schemaCompiler) typesOf(s *ordered, place string) (types []string, ok bool) {
	named, has := s.values["type"]
	if !has {
		for _, t := range []string{"object", "array", "string", "number"} {
			if slices.ContainsFunc(s.keys, func(k string) bool { return slices.Contains(typeKeywords[t], k) }) {
				types = append(types, t)
			}
		}
	}
	list, isList := named.([]any)
	if has && !isList {
		list = []any{named}
	}
	allowed := []string{"type"}
	for _, v := range list {
		t, isText := v.(string)
		if _, known := typeKeywords[t]; !isText || !known {
			c.refuse(place, "type", "choose object, array, string, number, integer, boolean or null")
			return nil, false
		}
		types = append(types, t)
	}
	for _, t := range types {
		allowed = append(allowed, typeKeywords[t]...)
	}
	if slices.Contains(types, "number") { // whole numbers are among them
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	beside := ""
	if len(types) > 0 {
		beside = " for " + strings.Join(types, ", ")
	}
	return types, c.only(s, place, beside, allowed...)
}

// ofType is what matches the keywords of one type.
func (c *schemaCompiler) ofType(t string, s *ordered, place string, depth int) fragment {
	switch t {
	case "object":
		return c.object(s, place, depth)
	case "array":
		return c.array(s, place, depth)
	case "string":
		return c.text(s, place)
	case "number", "integer":
		return c.number(t, s, place)
	case "boolean":
		return c.either(c.literal("true"), c.literal("false"))
	}
	return c.literal("null")
}

// alternatives is what matches anyOf, oneOf or allOf.
func (c *schemaCompiler) alternatives(keyword string, value any, place string, depth int) fragment {
	list, ok := value.([]any)
	switch {
	case !ok || len(list) == 0:
		return c.refuse(place, keyword, "it must be a list of schemas")
	case keyword == "allOf" && len(list) > 1:
		return c.refuse(place, keyword, "several schemas at once are not supported: write them as one")
	case keyword == "oneOf" && !c.disjoint(list):
		return c.refuse(place, keyword, "a value could match two of them: use anyOf, or give them different types or a required property with different constants")
	}
	var parts []fragment
	for i, v := range list {
		parts = append(parts, c.schema(v, fmt.Sprintf("%s/%s/%d", place, keyword, i), depth+1))
	}
	return c.either(parts...)
}

// values is what matches the values of const or enum that have one of the types.
func (c *schemaCompiler) values(s *ordered, keyword string, value any, place string) fragment {
	list, ok := value.([]any)
	if keyword == "const" {
		list, ok = []any{value}, true
	}
	if !ok || len(list) == 0 {
		return c.refuse(place, keyword, "it must be a list of values")
	}
	types, ok := c.typesOf(&ordered{keys: []string{"type"}, values: s.values}, place)
	if _, has := s.values["type"]; !has {
		types, ok = nil, true
	}
	if !ok {
		return c.empty()
	}
	var parts []fragment
	for _, v := range list {
		if t := typeOf(v); types == nil || slices.Contains(types, t) || t == "integer" && slices.Contains(types, "number") {
			text, err := encode(v)
			if err != nil {
				return c.refuse(place, keyword, err.Error())
			}
			parts = append(parts, c.literal(string(text)))
		}
	}
	return c.either(parts...)
}

// typeOf is the type of a decoded value.
func typeOf(v any) string {
	switch v := v.(type) {
	case *ordered:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// reference calls the rule of the schema that $ref points to.
func (c *schemaCompiler) reference(value any, place string, depth int) fragment {
	pointer, ok := value.(string)
	if !ok || pointer != "#" && !strings.HasPrefix(pointer, "#/") {
		return c.refuse(place, "$ref", "only places in the same schema are supported, such as #/$defs/name")
	}
	if _, known := c.named[pointer]; known {
		return c.call(c.ruleNamed(pointer))
	}
	target := c.document
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(pointer, "#"), "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		o, isObject := target.(*ordered)
		if isObject {
			target, ok = o.values[part]
		}
		if !isObject || !ok {
			return c.refuse(place, "$ref", clip(pointer)+" is not in the schema")
		}
	}
	id := c.ruleNamed(pointer)
	c.define(id, c.schema(target, pointer, depth+1))
	return c.call(id)
}

// disjoint says that no value can match two of the schemas.
func (c *schemaCompiler) disjoint(list []any) bool {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if !differ(a, b) {
				return false
			}
		}
	}
	return true
}

// differ says that two schemas have different types, different constants, or
// a required property in which they differ.
func differ(a, b any) bool {
	s, ok := a.(*ordered)
	t, also := b.(*ordered)
	if !ok || !also {
		return false
	}
	if u, v := constants(s), constants(t); u != nil && v != nil {
		return !slices.ContainsFunc(u, func(x string) bool { return slices.Contains(v, x) })
	}
	x, okX := s.values["type"].(string)
	y, okY := t.values["type"].(string)
	if okX && okY && x != y {
		return (x != "number" || y != "integer") && (x != "integer" || y != "number")
	}
	if x != "object" || y != "object" {
		return false
	}
	p, _ := s.values["properties"].(*ordered)
	q, _ := t.values["properties"].(*ordered)
	return p != nil && q != nil && slices.ContainsFunc(p.keys, func(key string) bool {
		return requires(s, key) && requires(t, key) && differ(p.values[key], q.values[key])
	})
}

// constants are the values of const or enum as JSON; nil if there is neither.
func constants(s *ordered) (values []string) {
	list, _ := s.values["enum"].([]any)
	if v, ok := s.values["const"]; ok {
		list = []any{v}
	}
	for _, v := range list {
		if text, err := encode(v); err == nil {
			values = append(values, string(text))
		}
	}
	return values
}

func requires(s *ordered, key string) bool {
	list, _ := s.values["required"].([]any)
	return slices.Contains(list, any(key))
}
