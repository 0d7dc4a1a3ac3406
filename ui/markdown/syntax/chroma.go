package syntax

import (
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// chroma knows some 250 languages, but it is about forty times slower than our
// own lexer and cannot say what a line leaves open. It serves the languages
// that our own table lacks.

// longestLine bounds the bytes of a line that is coloured by itself: a longer
// one would take more than a frame has.
const longestLine = 256

// chromaNames are the names that chroma knows, in lower case. Its own lookup
// compares a name that it does not know with every file pattern, which takes
// milliseconds.
var chromaNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, name := range lexers.Names(true) {
		names[strings.ToLower(name)] = true
	}
	return names
})

var chromaLanguages = struct {
	sync.Mutex
	byName map[string]*Language
}{byName: map[string]*Language{}}

// findChroma returns the language that chroma knows by a name, or nil.
func findChroma(name string) *Language {
	if name == "" || !chromaNames()[name] {
		return nil
	}
	known := &chromaLanguages
	known.Lock()
	defer known.Unlock()
	l := known.byName[name]
	if l == nil {
		if lexer := lexers.Get(name); lexer != nil {
			l = &Language{names: name, lexer: chroma.Coalesce(lexer)}
			known.byName[name] = l
		}
	}
	return l
}

// chromaLines colours a text given as lines.
func (l *Language) chromaLines(lines []string) [][]Span {
	out := make([][]Span, len(lines))
	next, err := l.lexer.Tokenise(nil, strings.Join(lines, "\n")+"\n")
	if err != nil {
		next = chroma.Literator()
	}
	at, used := 0, 0 // the line, and its bytes that have a class
	for token := next(); token != chroma.EOF && at < len(lines); token = next() {
		class := classOf(token.Type)
		for i, part := range strings.Split(token.Value, "\n") {
			if i > 0 {
				out[at] = fill(out[at], len(lines[at])-used)
				if at, used = at+1, 0; at == len(lines) {
					break
				}
			}
			if n := min(len(part), len(lines[at])-used); n > 0 {
				out[at] = append(out[at], Span{class, n})
				used += n
			}
		}
	}
	for ; at < len(lines); at, used = at+1, 0 {
		out[at] = fill(out[at], len(lines[at])-used)
	}
	return out
}

// fill covers the n bytes at the end of a line that have no class yet.
func fill(spans []Span, n int) []Span {
	if n > 0 {
		spans = append(spans, Span{Code, n})
	}
	return spans
}

// classOf maps chroma's token types to our classes, and so to the theme.
func classOf(t chroma.TokenType) Class {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameException:
		return Type
	case chroma.KeywordConstant, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameConstant:
		return Builtin
	case chroma.NameFunction, chroma.NameFunctionMagic:
		return Function
	case chroma.NameTag, chroma.NameAttribute, chroma.NameDecorator, chroma.NameLabel, chroma.NameProperty,
		chroma.NameVariable, chroma.NameVariableClass, chroma.NameVariableGlobal, chroma.NameVariableInstance:
		return Name
	case chroma.OperatorWord, chroma.CommentPreproc:
		return Keyword
	case chroma.GenericHeading, chroma.GenericSubheading:
		return Heading
	case chroma.GenericInserted:
		return Inserted
	case chroma.GenericDeleted:
		return Deleted
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Operator):
		return Operator
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber):
		return Number
	}
	return Code
}
