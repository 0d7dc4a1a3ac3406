package markdown

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	gm "github.com/yuin/goldmark/renderer"
)

// monsters are nested far deeper than any text that means something.
func monsters() map[string]string {
	return map[string]string{
		"quotations":          strings.Repeat(">", 20000) + " x",
		"quotations and list": strings.Repeat("> - ", 8000) + "x",
		"lists":               strings.Repeat("- ", 20000) + "x",
		"numbers":             strings.Repeat("1. ", 20000) + "x",
		"stars":               strings.Repeat("*", 20000),
		"open emphasis":       strings.Repeat("*a ", 20000),
		"nested emphasis":     strings.Repeat("*a ", 10000) + strings.Repeat("a* ", 10000),
		"two kinds":           strings.Repeat("*a_ ", 20000),
		"struck":              strings.Repeat("~~a ", 10000) + strings.Repeat("a~~ ", 10000),
		"brackets":            strings.Repeat("[", 20000),
		"closed brackets":     strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		"links":               strings.Repeat("[a](", 20000),
		"images":              strings.Repeat("![", 10000) + strings.Repeat("](b)", 10000),
		"back-quotes":         strings.Repeat("`a``", 10000),
		"deep lines":          strings.Repeat(strings.Repeat("> ", 60)+"x\n", 300),
		"deep list":           deepList(300),
		"fractions":           "$" + strings.Repeat(`\frac{`, 10000) + "1" + strings.Repeat("}{2}", 10000) + "$",
		"dollars":             strings.Repeat("$a ", 20000),
	}
}

func deepList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- item\n")
	}
	return b.String()
}

// A text may be nested at will: it takes neither the stack nor long.
func TestNestingIsBounded(t *testing.T) {
	th := testTheme(t)
	for name, text := range monsters() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			lines := Render(text, th, 80)
			check(t, lines, 80)
			if len(lines) > len(text) {
				t.Errorf("%d lines of %d bytes", len(lines), len(text))
			}
			s := streamed(th, 80, text, New(th, 1).limits, func() int { return 4000 })
			check(t, all(s), 80)
			if took := time.Since(start); took > time.Minute { // a thousand times what it takes
				t.Errorf("took %v", took)
			}
		})
	}
}

// 10 KB that once took a gigabyte.
func TestNestingTakesLittleMemory(t *testing.T) {
	th := testTheme(t)
	for name, text := range monsters() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Render(text[:min(len(text), 10<<10)], th, 80)
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 50 {
			t.Errorf("%s: %d MB", name, mb)
		}
	}
}

// What is nested below the bound is plain text.
func TestBelowTheBoundIsText(t *testing.T) {
	lines := plain(Render(strings.Repeat("> ", maxDepth)+"> > deep", testTheme(t), 200))
	if want := strings.Repeat("│ ", maxDepth) + "> > deep"; len(lines) != 1 || lines[0] != want {
		t.Errorf("%q, want %q", lines, want)
	}
}

// A block that cannot be rendered is shown as it stands, and the others as ever.
func TestPanicStaysInItsBlock(t *testing.T) {
	text := "one *a*\n\n# two\n\n- three\n\n  four\n\nfive"
	r := newRenderer(testTheme(t), 80)
	doc := parse([]byte(text), nil)
	r.in.set.renderers[baseTitle] = panicking{}
	r.document(doc, []byte(text), seam{}, nil)
	want := []string{"one a", "", "# two", "", "• three", "", "  four", "", "five"}
	if d := cmp.Diff(want, plain(r.out)); d != "" {
		t.Error(d)
	}
}

type panicking struct{ gm.Renderer }

func (panicking) Render(io.Writer, []byte, ast.Node) error { panic("a bug") }
