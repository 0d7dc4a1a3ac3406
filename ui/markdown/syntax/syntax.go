package syntax

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
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

// A Language colours code. Nil is a language that knows only Code.
type Language struct {
	lexer  chroma.Lexer
	blocks []block
}

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

// otherNames are names that models write and chroma does not know.
var otherNames = map[string]string{
	"h": "c", "cc": "cpp", "cxx": "cpp", "hpp": "cpp", "cu": "cpp", "cuda": "cpp", "hip": "cpp", "cs": "csharp", "kt": "kotlin", "kts": "kotlin",
	"mjs": "js", "cjs": "js", "node": "js", "ipython": "python", "pycon": "python", "shellsession": "bash", "sqlite": "sql", "plsql": "sql",
	"jsonc": "js", "json5": "js", "yml": "yaml", "conf": "ini", "env": "ini", "dotenv": "ini", "less": "scss",
	"svg": "xml", "xhtml": "html", "htm": "html", "mk": "make", "patch": "diff",
}

var known = struct {
	sync.Mutex
	languages map[string]*Language
}{languages: map[string]*Language{}}

// Find returns the language that a code fence names, or nil.
func Find(info string) *Language {
	if i := strings.IndexAny(info, " \t,:;{"); i > 0 {
		info = info[:i]
	}
	name := strings.ToLower(strings.Trim(info, "{}."))
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if !chromaNames()[name] {
		return nil
	}
	known.Lock()
	defer known.Unlock()
	l := known.languages[name]
	if l == nil {
		l = &Language{lexer: lexers.Get(name)}
		l.findBlocks()
		known.languages[name] = l
	}
	return l
}

// longestTime bounds how long a text is coloured, and with it what a text can take that
// was made to be slow: some lexers need the square of its length.
const longestTime = time.Second

// Lines returns the spans of every line of a whole text. The spans cover the lines.
// What is left after longestTime is Code.
func (l *Language) Lines(lines []string) [][]Span {
	out := make([][]Span, len(lines))
	next := chroma.Literator()
	if l != nil {
		if tokens, err := l.lexer.Tokenise(nil, strings.Join(lines, "\n")+"\n"); err == nil {
			next = tokens
		}
	}
	end := time.Now().Add(longestTime)
	at, used := 0, 0 // the line, and its bytes that have a class
	for token := next(); token != chroma.EOF && at < len(lines) && time.Now().Before(end); token = next() {
		class := classOf(token.Type)
		for i, part := range strings.Split(token.Value, "\n") {
			if i > 0 {
				out[at] = fill(out[at], Code, len(lines[at])-used)
				if at, used = at+1, 0; at == len(lines) {
					break
				}
			}
			n := min(len(part), len(lines[at])-used)
			out[at] = fill(out[at], class, n)
			used += n
		}
	}
	for ; at < len(lines); at, used = at+1, 0 {
		out[at] = fill(out[at], Code, len(lines[at])-used)
	}
	return out
}

// fill gives the next n bytes of a line a class.
func fill(spans []Span, class Class, n int) []Span {
	if n <= 0 {
		return spans
	}
	if last := len(spans) - 1; last >= 0 && spans[last].Class == class {
		spans[last].Len += n
		return spans
	}
	return append(spans, Span{class, n})
}

// Line returns the spans of a line, which has no line break, as far as they can
// be known from it and from what the lines before leave open; and what it leaves
// open itself. The spans cover the line.
func (l *Language) Line(line string, s State) ([]Span, State) {
	var spans []Span
	if s > 0 {
		b := l.blocks[s-1]
		end := strings.Index(line, b.end)
		if end < 0 {
			return fill(nil, b.class, len(line)), s
		}
		end += len(b.end)
		spans, line = fill(nil, b.class, end), line[end:]
	}
	if l == nil || len(line) > longestLine {
		return fill(spans, Code, len(line)), 0
	}
	own := l.Lines([]string{line})[0]
	s, from := l.opened(line, own)
	for _, span := range own {
		n := min(span.Len, from)
		spans = fill(spans, span.Class, n)
		from -= n
		line = line[n:]
	}
	if s > 0 {
		spans = fill(spans, l.blocks[s-1].class, len(line))
	}
	return slices.Clip(spans), s
}

// classes are chroma's types of tokens and what they are here. A type that is
// missing is what its sub-category is, or else its category.
var classes = map[chroma.TokenType]Class{
	chroma.Keyword: Keyword, chroma.KeywordType: Type, chroma.KeywordConstant: Builtin, chroma.OperatorWord: Keyword,
	chroma.NameClass: Type, chroma.NameException: Type, chroma.NameFunction: Function, chroma.NameFunctionMagic: Function,
	chroma.NameBuiltin: Builtin, chroma.NameBuiltinPseudo: Builtin, chroma.NameConstant: Builtin,
	chroma.NameTag: Name, chroma.NameAttribute: Name, chroma.NameDecorator: Name, chroma.NameLabel: Name, chroma.NameProperty: Name,
	chroma.NameVariable: Name, chroma.NameVariableClass: Name, chroma.NameVariableGlobal: Name, chroma.NameVariableInstance: Name,
	chroma.LiteralString: String, chroma.LiteralNumber: Number, chroma.Operator: Operator,
	chroma.Comment: Comment, chroma.CommentPreproc: Keyword,
	chroma.GenericHeading: Heading, chroma.GenericSubheading: Heading, chroma.GenericInserted: Inserted, chroma.GenericDeleted: Deleted,
}

func classOf(t chroma.TokenType) Class {
	for _, of := range []chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := classes[of]; ok {
			return class
		}
	}
	return Code
}
