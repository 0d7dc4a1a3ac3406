package tex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds groups and commands inside one another.
const maxDepth = 16

// Unicode returns a formula, given without its dollars or brackets, as text. It
// has a line break where the formula has one. The result is false if the
// formula cannot be written so.
func Unicode(formula string) (string, bool) {
	r := reader{s: formula}
	out := r.sequence(0)
	if r.failed || r.pos < len(r.s) {
		return "", false
	}
	lines := strings.Split(out, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	out = strings.TrimSpace(strings.Join(lines, "\n"))
	return out, out != ""
}

// A reader reads a formula from pos on.
type reader struct {
	s      string
	pos    int
	depth  int
	failed bool
	row    string // what \\ stands for in the environment that is read
}

func (r *reader) fail() string {
	r.failed = true
	return ""
}

// sequence reads up to the end of the formula, or to stop, which it leaves.
func (r *reader) sequence(stop byte) string {
	if r.depth++; r.depth > maxDepth {
		return r.fail()
	}
	defer func() { r.depth-- }()
	var out strings.Builder
	for r.pos < len(r.s) && !r.failed {
		c := r.s[r.pos]
		if stop != 0 && c == stop || c == '}' || strings.HasPrefix(r.s[r.pos:], `\end{`) {
			break
		}
		out.WriteString(r.atom())
	}
	return out.String()
}

// atom reads one character, group or command.
func (r *reader) atom() string {
	c, n := utf8.DecodeRuneInString(r.s[r.pos:])
	r.pos += n
	switch c {
	case '{':
		group := r.sequence('}')
		return r.expect("}", group)
	case '^':
		return script('^', raised, r.argument())
	case '_':
		return script('_', lowered, r.argument())
	case '\\':
		return r.command()
	case '\'':
		return "′"
	case '&', '~', '\n', '\t':
		return " "
	case '%', '#', '$', '}':
		return r.fail()
	}
	return string(c)
}

// expect reads s and returns result.
func (r *reader) expect(s, result string) string {
	if !strings.HasPrefix(r.s[r.pos:], s) {
		return r.fail()
	}
	r.pos += len(s)
	return result
}

// argument reads what a command or script applies to.
func (r *reader) argument() string {
	r.skipSpace()
	if r.pos == len(r.s) || r.s[r.pos] == '}' || r.s[r.pos] == '^' || r.s[r.pos] == '_' {
		return r.fail()
	}
	if r.depth++; r.depth > maxDepth {
		return r.fail()
	}
	defer func() { r.depth-- }()
	return strings.TrimSpace(r.atom())
}

func (r *reader) skipSpace() {
	for r.pos < len(r.s) && (r.s[r.pos] == ' ' || r.s[r.pos] == '\n') {
		r.pos++
	}
}

// word reads an argument in braces as it stands.
func (r *reader) word() string {
	r.skipSpace()
	rest := r.s[r.pos:]
	end := strings.IndexByte(rest, '}')
	if end < 0 || rest[0] != '{' || strings.ContainsAny(rest[1:end], `{\$`) {
		return r.fail()
	}
	r.pos += end + 1
	return rest[1:end]
}

// command reads what comes after a backslash.
func (r *reader) command() string {
	rest := r.s[r.pos:]
	n := 0
	for n < len(rest) && (rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return r.sign()
	}
	name := rest[:n]
	r.pos += n
	if s, ok := symbols[name]; ok {
		if name == "partial" || name == "nabla" {
			r.skipSpace()
		}
		return s
	}
	if functions[name] {
		return r.function(name)
	}
	if mark, ok := accents[name]; ok {
		arg := r.argument()
		if utf8.RuneCountInString(arg) != 1 {
			return r.fail()
		}
		return arg + mark
	}
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		above := r.argument()
		return quotient(above, r.argument())
	case "binom", "dbinom", "tbinom":
		above := r.argument()
		return "(" + above + " choose " + r.argument() + ")"
	case "sqrt":
		return r.root()
	case "text", "textrm", "textbf", "textit", "mathrm", "mathbf", "mathit", "mathsf", "operatorname", "mbox", "textsf", "mathtt", "texttt", "bm", "boldsymbol":
		if r.skipSpace(); strings.HasPrefix(r.s[r.pos:], "{") && !strings.HasPrefix(name, "text") && name != "mbox" {
			return r.argument()
		} else if r.pos < len(r.s) && r.s[r.pos] != '{' {
			return r.argument()
		}
		return r.word()
	case "mathbb", "mathcal", "mathscr", "mathfrak":
		return r.letters(name)
	case "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "middle":
		if r.skipSpace(); strings.HasPrefix(r.s[r.pos:], ".") {
			r.pos++
		}
		return ""
	case "displaystyle", "textstyle", "limits", "nolimits", "nonumber", "notag":
		return ""
	case "not":
		sign := r.argument()
		if negated, ok := negations[sign]; ok {
			return negated
		}
		return r.fail()
	case "pmod":
		return " (mod " + r.argument() + ")"
	case "boxed":
		return "[" + r.argument() + "]"
	case "begin":
		return r.environment()
	}
	return r.fail()
}

// sign reads a command of one sign.
func (r *reader) sign() string {
	if r.pos == len(r.s) {
		return r.fail()
	}
	c := r.s[r.pos]
	r.pos++
	switch c {
	case ',', ';', ':', ' ', '>', '\n':
		return " "
	case '!':
		return ""
	case '{', '}', '%', '$', '#', '&', '_':
		return string(c)
	case '|':
		return "‖"
	case '\\':
		if r.row != "" {
			return r.row
		}
		return "\n"
	}
	return r.fail()
}

// function keeps the name of a function apart from a letter that follows.
func (r *reader) function(name string) string {
	if r.pos < len(r.s) {
		if c, _ := utf8.DecodeRuneInString(r.s[r.pos:]); unicode.IsLetter(c) || unicode.IsDigit(c) || c == '\\' {
			return name + " "
		}
	}
	return name
}

func (r *reader) root() string {
	sign := "√"
	if r.skipSpace(); strings.HasPrefix(r.s[r.pos:], "[") {
		r.pos++
		degree := strings.TrimSpace(r.sequence(']'))
		r.expect("]", "")
		switch degree {
		case "2":
		case "3":
			sign = "∛"
		case "4":
			sign = "∜"
		default:
			up, ok := translate(degree, raised)
			if !ok {
				return r.fail()
			}
			sign = up + sign
		}
	}
	return sign + factor(r.argument())
}

// letters reads letters of a special alphabet.
func (r *reader) letters(alphabet string) string {
	var out strings.Builder
	for _, c := range r.argument() {
		letter, ok := alphabets[alphabet][c]
		if !ok && alphabet == "mathbb" {
			return r.fail()
		}
		if !ok {
			letter = c // calligraphy is only decoration
		}
		out.WriteRune(letter)
	}
	return out.String()
}

// environment reads from \begin to \end.
func (r *reader) environment() string {
	name := r.word()
	e, ok := environments[strings.TrimSuffix(name, "*")]
	if !ok {
		return r.fail()
	}
	outer := r.row
	r.row = e.row
	body := strings.TrimSpace(r.sequence(0))
	r.row = outer
	if e.row != "" {
		body = strings.ReplaceAll(body, " ;", ";")
	}
	return r.expect(`\end{`+name+"}", e.open+body+e.close)
}

// script raises or lowers text, or says that it should be.
func script(sign rune, table map[rune]rune, text string) string {
	if s, ok := translate(text, table); ok {
		return s
	}
	switch {
	case sign == '^' && (text == "′" || text == "*" || text == "†" || text == "∗"):
		return text
	case sign == '^' && text == "∘":
		return "°"
	case utf8.RuneCountInString(text) == 1:
		return string(sign) + text
	}
	return string(sign) + "(" + text + ")"
}

func translate(text string, table map[rune]rune) (string, bool) {
	var out strings.Builder
	for _, c := range text {
		if c == ' ' {
			continue
		}
		t, ok := table[c]
		if !ok {
			return "", false
		}
		out.WriteRune(t)
	}
	return out.String(), out.Len() > 0
}

// quotient writes a fraction on one line.
func quotient(above, below string) string {
	if strings.ContainsAny(above, " +-=/<>±") {
		above = "(" + above + ")"
	}
	return above + "/" + factor(below)
}

// factor encloses text in brackets that would fall apart after a sign: all but
// a number, a letter, and a differential.
func factor(text string) string {
	atoms, digits := 0, true
	for _, c := range text {
		if unicode.Is(unicode.Mn, c) || unicode.In(c, unicode.No, unicode.Lm) {
			continue // scripts and accents
		}
		atoms++
		digits = digits && (unicode.IsDigit(c) || c == '.')
	}
	if atoms <= 1 || digits || atoms == 2 && (text[0] == 'd' || strings.HasPrefix(text, "∂")) {
		return text
	}
	if strings.HasPrefix(text, "(") && strings.IndexByte(text, ')') == len(text)-1 {
		return text
	}
	return "(" + text + ")"
}
