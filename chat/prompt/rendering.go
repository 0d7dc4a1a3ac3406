package prompt

// A Beginning says what a state has read before the first prompt.
type Beginning uint8

// The beginnings.
const (
	FromZero  Beginning = iota // nothing: the zero state
	Tuned                      // nothing: a state that was trained
	AfterText                  // a text, without the separator after it
)

// A Rendering is what text is rendered with, beside a template.
type Rendering struct {
	System     string // the system prompt
	Begins     Beginning
	BlankLines bool // of a prompt stay as they are
}

// clean prepares what a person wrote for a prompt.
func (r Rendering) clean(text string) string {
	if r.BlankLines {
		return trimLines(text)
	}
	return CleanText(text)
}
