package persona

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rookery/chat/turn"
	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// What a persona may have, at most.
const (
	maxName   = 80        // bytes
	maxText   = 256 << 10 // bytes of a text
	maxValues = 100       // variables
)

// A Persona is who a conversation is with. An empty field leaves what new conversations
// have.
type Persona struct {
	Name      string            `json:"name"`
	About     string            `json:"about,omitempty"`     // for people
	System    string            `json:"system,omitempty"`    // {{name}} is a variable
	Variables map[string]string `json:"variables,omitempty"` // and what they are unless told otherwise
	State     string            `json:"state,omitempty"`     // of the library
	Adapter   string            `json:"adapter,omitempty"`   // name or path
	Mix       string            `json:"mix,omitempty"`       // as /mix takes it
	Preset    string            `json:"preset,omitempty"`    // of sampling
	Sampling  sampler.Changes   `json:"sampling,omitempty"`  // over the preset
	Think     turn.ThinkMode    `json:"think,omitempty"`
	Form      grammar.Spec      `json:"form,omitzero"`
}

// Parse reads a persona.
func Parse(data []byte) (Persona, error) {
	var p Persona
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Persona{}, fmt.Errorf("this is no persona: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Persona{}, errors.New("this is no persona: something stands behind it")
	}
	return p, p.tidy()
}

// tidy bounds all texts and takes control characters away.
func (p *Persona) tidy() error {
	p.Name = strings.Join(strings.Fields(clean(p.Name)), " ")
	p.System, p.About = clean(p.System), clean(p.About)
	switch {
	case p.Name == "":
		return errors.New("the persona has no name")
	case len(p.Name) > maxName:
		return fmt.Errorf("a persona's name has at most %d bytes, this one has %d", maxName, len(p.Name))
	case fileName(p.Name) == fileEnding:
		return fmt.Errorf("the persona's name %q has no letter and no digit", p.Name)
	case len(p.Variables) > maxValues:
		return fmt.Errorf("a persona has at most %d variables, this one has %d", maxValues, len(p.Variables))
	}
	texts := []string{p.System, p.About, p.State, p.Adapter, p.Mix, p.Preset, p.Form.Text}
	for name, value := range p.Variables {
		if !isVariable(name) {
			return fmt.Errorf("%q cannot be the name of a variable: use letters, digits and _", name)
		}
		texts = append(texts, value)
		p.Variables[name] = clean(value)
	}
	if slices.ContainsFunc(texts, func(s string) bool { return len(s) > maxText }) {
		return fmt.Errorf("a text of the persona has more than %d KiB", maxText>>10)
	}
	if key, err := p.Sampling.Normalise(); err != nil {
		return fmt.Errorf("sampling %s: %w", key, err)
	}
	return nil
}

// clean is a text in UTF-8 with \n at the ends of lines and no control characters.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))
}

func isVariable(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Prompt is the system prompt with values in the place of its variables: those given,
// else the persona's own. {{char}} is its name. An unknown one stays as it stands.
func (p Persona) Prompt(values map[string]string) (string, error) {
	all := map[string]string{"char": p.Name}
	maps.Copy(all, p.Variables)
	for name, value := range values {
		if _, known := all[name]; !known {
			return "", fmt.Errorf("%s has no variable %q: it has %s", p.Name, name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		all[name] = value
	}
	var pairs []string
	size := len(p.System)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		mark := "{{" + name + "}}"
		pairs = append(pairs, mark, all[name])
		size += strings.Count(p.System, mark) * len(all[name]) // before anything is made of it
	}
	if size > 2*maxText {
		return "", fmt.Errorf("the system prompt of %s has more than %d KiB with its values", p.Name, 2*maxText>>10)
	}
	return strings.NewReplacer(pairs...).Replace(p.System), nil
}

// marshal writes a persona for people to read.
func (p Persona) marshal() ([]byte, error) {
	data, err := json.MarshalIndent(p, "", "  ")
	return append(data, '\n'), err
}

// fileEnding is that of the files of a library.
const fileEnding = ".json"

// fileName is that of a persona: letters and digits of its name, and dashes.
func fileName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := strings.TrimRight(b.String(), "-")
	for len(out) > maxName {
		_, size := utf8.DecodeLastRuneInString(out)
		out = out[:len(out)-size]
	}
	return out + fileEnding
}
