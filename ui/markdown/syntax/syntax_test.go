package syntax

import (
	"strings"
	"testing"
	"time"
)

// letters name the classes in tests.
const letters = ".ktfbnsdcohID"

// paintLine returns one letter per byte of a line, and checks that the spans cover it.
func paintLine(t *testing.T, line string, spans []Span) string {
	t.Helper()
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(strings.Repeat(letters[s.Class:s.Class+1], s.Len))
	}
	if b.Len() != len(line) {
		t.Fatalf("spans cover %d of the %d bytes of %q", b.Len(), len(line), line)
	}
	return b.String()
}

// paint colours a text line by line.
func paint(t *testing.T, l *Language, text string) string {
	t.Helper()
	var out []string
	var state State
	for line := range strings.SplitSeq(text, "\n") {
		spans, next := l.Line(line, state)
		out, state = append(out, paintLine(t, line, spans)), next
	}
	return strings.Join(out, "\n")
}

// paintWhole colours a text at once.
func paintWhole(t *testing.T, l *Language, text string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	out := make([]string, len(lines))
	for i, spans := range l.Lines(lines) {
		out[i] = paintLine(t, lines[i], spans)
	}
	return strings.Join(out, "\n")
}

// Lexers that need the square of a text are stopped, and what is left is Code.
func TestTimeIsBounded(t *testing.T) {
	for name, text := range map[string]string{"html": strings.Repeat("<div><script>", 4000), "yaml": strings.Repeat("[", 20_000)} {
		start := time.Now()
		spans := Find(name).Lines([]string{text, "x"})
		if d := time.Since(start); d > 10*longestTime {
			t.Errorf("%s took %v", name, d)
		}
		n := 0
		for _, s := range spans[0] {
			n += s.Len
		}
		if n != len(text) || len(spans[1]) != 1 {
			t.Errorf("%s: spans of %d bytes and of %v, not of %d and 1", name, n, spans[1], len(text))
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"go", `func f(n int) T { return "a\"b" } // c`, "kkkk.f...ttt......kkkkkk.ssssss...cccc"},
		{"go", "x := 'a' + 0x1F // it's", "..oo.sss.o.dddd.ccccccc"},
		{"python", "def f(x): # it's", "kkk.f.....cccccc"},
		{"py", "@cached", "nnnnnnn"},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }", "kk.fonno....knn.ttt.....tttt...sss.."},
		{"bash", `echo "$HOME" ${x} $1 a#b # c`, "bbbb.snnnnns.ssns.nn.....ccc"},
		{"sql", "SELECT a FROM t -- x", "kkkkkk...kkkk...cccc"},
		{"json", `{"a": "b", "c": [1.5e-3, true]}`, ".nnn..sss..nnn...dddddd..bbbb.."},
		{"yaml", "- name: x # c", "..nnnn....ccc"},
		{"toml", "[a.b]\nkey = 'v'", ".....\n......sss"},
		{"diff", "+a\n-b\n c\n@@ x", "II\nDD\n..\nhhhh"},
		{"html", `<div class="x">a</div>`, ".nnn.nnnnnosss....nnn."},
		{"haskell", "main = 42 -- it", "ffff.k.dd.ccccc"},
		{"unknown", "func f()", "........"},
	} {
		l := Find(c.lang)
		if got := paintWhole(t, l, c.text); got != c.want {
			t.Errorf("%s\n%s\n%s\nwant\n%s", c.lang, c.text, got, c.want)
		}
		if got := paint(t, l, c.text); got != c.want {
			t.Errorf("%s, line by line\n%s\n%s\nwant\n%s", c.lang, c.text, got, c.want)
		}
	}
}

// A comment or a string of several lines is known from its first line on.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"go", "a /* b\nif c */ d /* e */ f\nif g", "..cccc\nccccccc...ccccccc..\nkk.."},
		{"go", "s := `a\n// b` + c\nif x", "..oo.ss\nsssss.o..\nkk.."},
		{"go", "// a /* b `\nif x", "ccccccccccc\nkk.."},
		{"go", "s := \"src/*\"\nif x", "..oo.sssssss\nkk.."},
		{"c", "int a; /* b\n   int c\n */ int d;", "ttt....cccc\ncccccccc\nccc.ttt..."},
		{"python", "\"\"\"doc\nif more\n\"\"\" + 1", "ssssss\nsssssss\nsss.o.d"},
		{"python", "s = '''a''' + '''b\nif c''' # d\nif x", "..o.sssssss.o.ssss\nsssssss.ccc\nkk.."},
		{"rust", "/* a\nfn b */ fn c() {}", "cccc\nccccccc.kk.f....."},
		{"js", "s = `a ${b}\nif c` + d", "..o.sssssss\nsssss.o.."},
		{"html", "<p><!-- a\n<b> -->\n<i>", ".n.cccccc\nccccccc\n.n."},
		{"haskell", "{- a\n goes on -}\nx = 1", "cccc\nccccccccccc\nf.k.d"},
		{"lua", "--[[ a\nif b ]] if", "cccccc\nccccccc.kk"},
	} {
		if got := paint(t, Find(c.lang), c.text); got != c.want {
			t.Errorf("%s\n%s\n%s\nwant\n%s", c.lang, c.text, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	for info, want := range map[string]string{
		"go": "Go", "Go title=x": "Go", "{.python}": "Python", "rust,ignore": "Rust", "ts:src/a.ts": "TypeScript", "c++": "C++", "HPP": "C++", "yml": "YAML",
		"": "", "klingon": "",
	} {
		got := ""
		if l := Find(info); l != nil {
			got = l.lexer.Config().Name
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", info, got, want)
		}
	}
	for name, of := range otherNames {
		if Find(name) == nil {
			t.Errorf("%q, for %q, is not found", of, name)
		}
	}
}

// A line that takes longer than a frame has is not coloured until its text is
// complete.
func TestLongLine(t *testing.T) {
	if got := paint(t, Find("go"), strings.Repeat("1 ", longestLine)); strings.Trim(got, ".") != "" {
		t.Errorf("it is coloured: %s", got)
	}
}

// The spans cover any text in any language.
func FuzzLine(f *testing.F) {
	f.Add("func f() { return `a\nb` }\n/* c", "go")
	f.Add("\"\"\"\\\n\"\"\" '\\", "python")
	f.Add("${\n$\xff<!-- -->\x80", "html")
	f.Fuzz(func(t *testing.T, text, language string) {
		if len(text) < 1<<12 {
			paint(t, Find(language), text)
			paintWhole(t, Find(language), text)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	line := `	return s.handle(ctx, "request %d of %d", i+1, len(req.Items)) // a comment`
	l := Find("go")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = l.Line(line, 0)
	}
}
