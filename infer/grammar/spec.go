package grammar

import "fmt"

// Spec is a grammar as people write it down.
type Spec struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
}

// A Kind is a notation.
type Kind string

// The notations.
const (
	KindNone   Kind = ""
	KindJSON   Kind = "json"        // any JSON object; the text is empty
	KindSchema Kind = "json-schema" // see JSONSchema
	KindRegex  Kind = "regex"       // see Regex
	KindGBNF   Kind = "grammar"     // see GBNF
)

// Kinds are the notations that a spec can have.
var Kinds = []Kind{KindJSON, KindSchema, KindRegex, KindGBNF}

// Compile is the grammar of a spec; nil for that of no kind. Lead may stand
// before the text: chat templates leave a space between a role and what it says.
func (s Spec) Compile(lead string) (*Grammar, error) {
	var parsed *source
	switch s.Kind {
	case KindNone:
		return nil, nil
	case KindJSON:
		parsed = parseSchema([]byte(`{"type":"object"}`))
	case KindSchema:
		parsed = parseSchema([]byte(s.Text))
	case KindRegex:
		parsed = parseRegex(s.Text)
	case KindGBNF:
		parsed = parseGBNF(s.Text)
	default:
		return nil, fmt.Errorf("%q is no kind of grammar: choose json, json-schema, regex or grammar", clip(string(s.Kind)))
	}
	if parsed.err == nil {
		parsed.start = parsed.ruleNamed(" lead") // no parser makes such a name
		parsed.define(parsed.start, parsed.concat(parsed.optional(parsed.literal(lead)), parsed.call(0)))
	}
	return build(parsed)
}
