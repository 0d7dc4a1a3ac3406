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
	KindSchema Kind = "json-schema" // a JSON schema
	KindRegex  Kind = "regex"       // a regular expression, see Regex
	KindGBNF   Kind = "grammar"     // see GBNF
)

// Compile is the grammar of a spec; nil for that of no kind.
func (s Spec) Compile() (*Grammar, error) {
	switch s.Kind {
	case KindNone:
		return nil, nil
	case KindJSON:
		return JSONSchema([]byte(`{"type":"object"}`))
	case KindSchema:
		return JSONSchema([]byte(s.Text))
	case KindRegex:
		return Regex(s.Text)
	case KindGBNF:
		return GBNF(s.Text)
	}
	return nil, fmt.Errorf("%q is no kind of grammar: choose json, json-schema, regex or grammar", clip(string(s.Kind)))
}
