package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// letters name the classes in tests.
const letters = ".ktfbnsdcohID"

// paint returns one letter per byte of a text of several lines, and checks
// that the spans cover each line.
func paint(t *testing.T, l *Language, text string) string {
	t.Helper()
	var out []string
	var state State
	for _, line := range strings.Split(text, "\n") {
		var spans []Span
		spans, state = l.Line(line, state, nil)
		var b strings.Builder
		for _, s := range spans {
			b.WriteString(strings.Repeat(letters[s.Class:s.Class+1], s.Len))
		}
		if b.Len() != len(line) {
			t.Fatalf("spans cover %d of the %d bytes of %q", b.Len(), len(line), line)
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "\n")
}

func TestLine(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"go", `func f(n int) T { return "a\"b" } // c`, `kkkk.f...ttt..t...kkkkkk.ssssss...cccc`},
		{"go", "x := 'a' + 0x1F // it's", "..oo.sss.o.dddd.ccccccc"},
		{"go", "a /* b\nc */ d", "..cccc\ncccc.."},
		{"go", "s := `a\n// b` + c", "..oo.ss\nsssss.o.."},
		{"go", "req.Items.Len()", "..........fff.."},
		{"python", "def f(x): # it's", "kkk.f...o.cccccc"},
		{"py", "\"\"\"doc\nmore\n\"\"\" + 1", "ssssss\nssss\nsss.o.d"},
		{"py", "@cached", "nnnnnnn"},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }", "kk..o..o..o.o...ttt..oo.tttt...sss.."},
		{"bash", `echo "$HOME" ${x} $1 a#b # c`, "bbbb.sssssss.nnnn.nn.....ccc"},
		{"sql", "SELECT a FROM t -- x", "kkkkkk...kkkk...cccc"},
		{"json", `{"a": "b", "c": [1.5e-3, true]}`, `.nnno.sss..nnno..dddddd..bbbb..`},
		{"yaml", "- name: x # c", "o.nnnno...ccc"},
		{"toml", "[a.b]\nkey = 'v'", "hhhhh\nnnn.o.sss"},
		{"diff", "+a\n-b\n c\n@@ x", "II\nDD\n..\nkkkk"},
		{"html", `<div class="x">a</div>`, `nnnn.nnnnnossso.nnnnno`},
		{"unknown", "func f()", "........"},
	} {
		got := paint(t, Find(c.lang), c.text)
		if got != c.want {
			t.Errorf("%s\n%s\n%s\nwant\n%s", c.lang, c.text, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	for info, want := range map[string]string{
		"go": "go golang", "Go title=x": "go golang", "{.python}": "python py python3 ipython pycon",
		"rust,ignore": "rust rs", "ts:src/a.ts": "typescript ts tsx", "c++": "cpp c++ cc cxx hpp cuda cu hip", "": "", "klingon": "",
	} {
		got := ""
		if l := Find(info); l != nil {
			got = l.names
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", info, got, want)
		}
	}
}

// A line is coloured the same whether it came in one piece or is the last of
// many: the state is all that matters.
func FuzzLine(f *testing.F) {
	f.Add("func f() { return `a\nb` }\n/* c", uint8(0))
	f.Add("\"\"\"\\\n\"\"\" '\\", uint8(9))
	f.Add("${\n$\xff<!-- -->\x80", uint8(3))
	f.Fuzz(func(t *testing.T, text string, lang uint8) {
		l := &languages[int(lang)%len(languages)]
		if d := cmp.Diff(paint(t, l, text), paint(t, l, text)); d != "" {
			t.Error(d)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	line := `	return s.handle(ctx, "request %d of %d", i+1, len(req.Items)) // a comment`
	l := Find("go")
	b.SetBytes(int64(len(line)))
	var spans []Span
	for b.Loop() {
		spans, _ = l.Line(line, 0, spans[:0])
	}
}

// Chroma colours what our own table lacks: a line by itself, or a whole text,
// in which it knows what a line before has opened.
func TestChroma(t *testing.T) {
	l := Find("Haskell")
	if l == nil || !l.Stateless() {
		t.Fatal("haskell is not found")
	}
	if got, want := paint(t, l, "main = 42 -- it"), "ffff.k.dd.ccccc"; got != want {
		t.Errorf("a line: %s, want %s", got, want)
	}
	lines := []string{"{- a comment", "goes on -}", "", "x = \"s\""}
	whole := l.Lines(lines)
	for i, spans := range whole {
		n := 0
		for _, s := range spans {
			n += s.Len
		}
		if n != len(lines[i]) {
			t.Errorf("line %d: spans cover %d bytes of %d", i, n, len(lines[i]))
		}
	}
	if got := whole[1][0]; got != (Span{Comment, len(lines[1])}) {
		t.Errorf("the second line of a comment begins with %v", got)
	}
	if got := paint(t, l, strings.Repeat("x ", longestLine)); strings.Trim(got, ".") != "" {
		t.Errorf("a line that takes too long is coloured: %s", got)
	}
	if Find("no such language") != nil {
		t.Error("an unknown language is found")
	}
}

func BenchmarkChromaLine(b *testing.B) {
	line := `  reply <- handle ctx "request of" (i + 1) (length items) -- a comment`
	l := Find("haskell")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = l.Line(line, 0, nil)
	}
}
