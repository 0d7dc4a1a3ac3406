package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"rookery/chat/turn"
	"rookery/infer"
)

// A Spec is how a model, or a tuned state, is spoken to where a person says so. A
// zero field leaves what was found.
type Spec struct {
	Family    string           `json:"family,omitempty" toml:"family"`       // "world" or "g1"
	Template  string           `json:"template,omitempty" toml:"template"`   // a Go template over turns, see Page
	User      string           `json:"user,omitempty" toml:"user"`           // what prompts are headed with: "User"
	Assistant string           `json:"assistant,omitempty" toml:"assistant"` // answers
	System    string           `json:"system,omitempty" toml:"system"`       // the system prompt
	Stops     []string         `json:"stops,omitempty" toml:"stops"`
	Think     []turn.ThinkMode `json:"think,omitempty" toml:"think"`   // the thinking modes it was trained for
	Preset    string           `json:"preset,omitempty" toml:"preset"` // of sampling, in new conversations
}

// SpecKey is the entry of a model's metadata that has its Spec, as JSON.
const SpecKey = "rookery.template"

// A Page is what a person's template is carried out on. What it writes for a turn
// may depend on that turn, and on whether a system prompt stands before it.
type Page struct {
	System string
	Turns  []PageTurn
}

// A PageTurn is a turn of a Page. The last one is the answer that begins: it is
// open, and has the header of the thinking mode as its text.
type PageTurn struct {
	Role string // what the turn is headed with: "User", "Assistant" or what a person calls them
	User bool
	Text string
	Open bool
}

// maxPage bounds what a template may write around the texts, in bytes.
const maxPage = 1 << 20

// SpecOf is what a person says of a model.
func SpecOf(m *infer.Model) Spec {
	var s Spec
	if text := m.Metadata[SpecKey]; text == "" || json.Unmarshal([]byte(text), &s) != nil || s.Check() != nil {
		return Spec{} // it was checked where it was written
	}
	return s
}

// Over is a spec with what it leaves open taken from another.
func (s Spec) Over(under Spec) Spec {
	for _, f := range []struct{ own, other *string }{
		{&s.Family, &under.Family},
		{&s.Template, &under.Template},
		{&s.User, &under.User},
		{&s.Assistant, &under.Assistant},
		{&s.System, &under.System},
		{&s.Preset, &under.Preset},
	} {
		if *f.own == "" {
			*f.own = *f.other
		}
	}
	if s.Stops == nil {
		s.Stops = under.Stops
	}
	if s.Think == nil {
		s.Think = under.Think
	}
	return s
}

// IsZero says that a person says nothing.
func (s Spec) IsZero() bool {
	text, err := json.Marshal(s)
	return err == nil && string(text) == "{}"
}

// Check says what is wrong with a spec, or nil.
func (s Spec) Check() error {
	switch s.Family {
	case "", "world", "g1":
	default:
		return fmt.Errorf("family is %q; it must be world or g1", s.Family)
	}
	for _, name := range []string{s.User, s.Assistant, s.System} {
		if strings.ContainsAny(name, "\r\n") || len(name) > 100 {
			return errors.New("a role is one short line")
		}
	}
	for _, mode := range s.Think {
		if !slices.Contains(allThinkModes, mode) {
			return fmt.Errorf("there is no thinking mode %q", mode)
		}
	}
	if slices.Contains(s.Stops, "") {
		return errors.New("an empty stop would end every answer")
	}
	page, err := s.page()
	if err == nil && page != nil {
		_, err = s.suffix(page, "", true, "prompt", "")
	}
	if err == nil && page != nil {
		_, err = s.suffix(page, "", false, "prompt", "")
	}
	return err
}

// page is a person's own template, or nil.
func (s Spec) page() (*template.Template, error) {
	if s.Template == "" {
		return nil, nil
	}
	page, err := template.New("template").Option("missingkey=error").Parse(s.Template)
	if err != nil {
		return nil, fmt.Errorf("the template cannot be read: %w", err)
	}
	return page, nil
}

// said stands for an answer that the state has read.
const said = "\x00said\x00"

// suffix is what is read for a prompt: all of the page if it is the first one, and
// otherwise what stands behind the answer before it. It ends where the answer begins.
func (s Spec) suffix(page *template.Template, system string, first bool, text, header string) (string, error) {
	user, assistant := s.roles()
	p := Page{System: system, Turns: []PageTurn{{Role: user, User: true, Text: text}, {Role: assistant, Text: header, Open: true}}}
	if !first {
		p.Turns = append([]PageTurn{{Role: user, User: true, Text: "x"}, {Role: assistant, Text: said}}, p.Turns...)
	}
	var out bytes.Buffer
	if err := page.Execute(&boundedWriter{&out, maxPage + len(text) + len(system)}, p); err != nil {
		return "", fmt.Errorf("the template cannot be carried out: %w", err)
	}
	whole := out.String()
	if !strings.HasSuffix(whole, header) || !strings.Contains(whole, text) {
		return "", errors.New("the template must write the text of every turn, and end with the one of the open turn")
	}
	if first {
		return whole, nil
	}
	_, after, ok := strings.Cut(whole, said)
	if !ok {
		return "", errors.New("the template leaves answers out")
	}
	return after, nil
}

// roles are what prompts and answers are headed with.
func (s Spec) roles() (user, assistant string) {
	if user = s.User; user == "" {
		user = "User"
	}
	if assistant = s.Assistant; assistant == "" {
		assistant = "Assistant"
	}
	return user, assistant
}

// A boundedWriter refuses to write more than some bytes.
type boundedWriter struct {
	to   io.Writer
	room int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errors.New("it writes more than a megabyte")
	}
	return w.to.Write(p)
}

// Facts are what a spec says, as pairs of a name and a value for people.
func (s Spec) Facts() (facts [][2]string) {
	var modes []string
	for _, m := range s.Think {
		modes = append(modes, string(m))
	}
	var stops []string
	for _, stop := range s.Stops {
		stops = append(stops, fmt.Sprintf("%q", stop))
	}
	for _, f := range [][2]string{
		{"family", s.Family},
		{"user", s.User},
		{"assistant", s.Assistant},
		{"system", s.System},
		{"stops", strings.Join(stops, " ")},
		{"think", strings.Join(modes, ", ")},
		{"preset", s.Preset},
		{"template", s.Template},
	} {
		if f[1] != "" {
			facts = append(facts, f)
		}
	}
	return facts
}
