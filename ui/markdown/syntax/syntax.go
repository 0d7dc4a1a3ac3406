package syntax

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// A Class is what a piece of code is.
type Class uint8

// The classes. Code is everything that no other class names.
const (
	Code Class = iota
	Keyword
	Type
	Function
	Builtin
	Name // keys, tags, attributes, variables of a shell
	String
	Number
	Comment
	Operator
	Heading
	Inserted
	Deleted
)

// A Span is a number of bytes of one class.
type Span struct {
	Class Class
	Len   int
}

// A State is what a line leaves open for the next one: a comment or a string
// that spans lines. The zero State is the beginning of a text.
type State uint8

// A quote is a pair of marks that encloses a comment or string.
type quote struct {
	open, close string
	class       Class
	escape      byte // makes the next byte ordinary; 0 for none
	lines       bool // may span lines
	char        bool // encloses one character; otherwise the mark is an ordinary one
}

// A Language says how to colour a line.
type Language struct {
	names      string // the names it goes by, separated by spaces
	words      map[string]Class
	comments   []string                        // each begins a comment that ends with the line
	quotes     []quote                         // longer opening marks first
	letters    string                          // belong to words besides letters, digits and _
	sigils     string                          // begin a Name, as $ in a shell
	key        byte                            // after a line's first word, makes it a Name
	fold       bool                            // words in any case
	capitals   bool                            // words that begin with a capital are types
	hashAtWord bool                            // # begins a comment only at the start of a word
	line       func(line string) (Class, bool) // colours whole lines by their beginning
	lexer      chroma.Lexer                    // colours instead of all that, if not nil
}

// Find returns the language that a code fence names, or nil.
func Find(info string) *Language {
	if i := strings.IndexAny(info, " \t,:;{"); i > 0 {
		info = info[:i]
	}
	info = strings.ToLower(strings.Trim(info, "{}."))
	if l := byName[info]; l != nil {
		return l
	}
	return findChroma(info)
}

// Name is one of the names that the language goes by.
func (l *Language) Name() string {
	name, _, _ := strings.Cut(l.names, " ")
	return name
}

// Stateless says that Line knows nothing of the lines before: Lines may colour
// a whole text differently.
func (l *Language) Stateless() bool { return l != nil && l.lexer != nil }

// Lines returns the spans of every line of a whole text.
func (l *Language) Lines(lines []string) [][]Span {
	if l.Stateless() {
		return l.chromaLines(lines)
	}
	out, state := make([][]Span, len(lines)), State(0)
	for i, line := range lines {
		out[i], state = l.Line(line, state, nil)
	}
	return out
}

var byName = func() map[string]*Language {
	m := map[string]*Language{}
	for i := range languages {
		for _, name := range strings.Fields(languages[i].names) {
			m[name] = &languages[i]
		}
	}
	return m
}()

// Line appends the spans of a line, which has no line break, to dst and
// returns what the line leaves open. The spans cover the line. A nil language
// knows only Code.
func (l *Language) Line(line string, s State, dst []Span) ([]Span, State) {
	x := lexer{lang: l, src: line, spans: dst, base: len(dst)}
	if l == nil {
		x.emit(Code, len(line))
		return x.spans, 0
	}
	if l.lexer != nil {
		if len(line) > longestLine {
			x.emit(Code, len(line))
			return x.spans, 0
		}
		return append(dst, l.chromaLines([]string{line})[0]...), 0
	}
	if l.line != nil {
		if class, ok := l.line(line); ok {
			x.emit(class, len(line))
			return x.spans, 0
		}
	}
	return x.run(s)
}

// set makes a table of words of one class; more is added to it.
func set(class Class, words string, more ...map[string]Class) map[string]Class {
	m := map[string]Class{}
	for _, w := range strings.Fields(words) {
		m[w] = class
	}
	for _, other := range more {
		for w, c := range other {
			m[w] = c
		}
	}
	return m
}
