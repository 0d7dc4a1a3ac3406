package markdown

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rookery/ui/theme"
)

// piece is what a frame brings: four tokens of four bytes. The tests of the
// work take larger ones, to be done sooner.
const (
	piece      = 16
	largePiece = 80
)

// texts68K are 68 KiB of each kind of text that must cost the same at its end
// as at its beginning.
func texts68K(t testing.TB) map[string]string {
	t.Helper()
	mixed, err := os.ReadFile("testdata/reply.md")
	if err != nil {
		t.Fatal(err)
	}
	code := "func (s *Server) Handle42(n int) error { // comment\n\treturn s.log(\"x\", n+42)\n}\n\n"
	haskell := "handle :: Server -> Int -> IO Reply\nhandle s n = do\n  -- a comment\n  reply <- ask s \"x\" (n + 42)\n  return reply\n\n"
	fill := func(head, s string) string { return head + strings.Repeat(s, 68<<10/len(s)+1)[:68<<10] }
	// numbered makes every line another, so that no colours are remembered.
	numbered := func(head, s string) string {
		var b strings.Builder
		for n := 0; b.Len() < 68<<10; n++ {
			b.WriteString(strings.ReplaceAll(s, "42", strconv.Itoa(n)))
		}
		return head + b.String()[:68<<10]
	}
	return map[string]string{
		"mixed":      fill("", string(mixed)),
		"code":       numbered("```go\n", code),
		"haskell":    numbered("```haskell\n", haskell),
		"tables":     fill("", strings.Repeat("| a | b | c |\n|---|:-:|---|\n"+strings.Repeat("| a cell | another `cell` | with *three* words |\n", 20)+"\n", 2)),
		"formulas":   fill("", "Let $x_1^2 = \\frac{a}{b}$ be.\n\n$$\n\\sum_{i=1}^n x_i\n$$\n\n"),
		"long lines": fill("```\n", strings.Repeat("0123456789abcdef", 64)+"\n"),
		"paragraph":  fill("", "A paragraph without an end, with *emphasis*, `code` and stray _marks. "),
		"lines":      fill("", "A paragraph of many lines that never ends\n"),
		"chinese":    fill("", "没有空格也没有换行的很长的段落，"),
		"list":       fill("", "- an item with **bold** text\n"),
		"ordered":    fill("", "1. an item\n\n   with a second paragraph\n\n"),
		"quote":      fill("", "> a paragraph of a quotation\n>\n"),
	}
}

// The work of a frame, counted in bytes read and lines made, does not grow
// with the text: the last tenth of the frames costs no more than the second.
func TestWorkPerFrameIsFlat(t *testing.T) {
	th := testTheme(t)
	for name, text := range texts68K(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			early, late, most := frameWork(th, text)
			if late > 2*early {
				t.Errorf("the last tenth of the frames costs %d, the second %d", late, early)
			}
			if limit := 3 * New(th, 1).limits.block; most > limit {
				t.Errorf("one frame costs %d, at most %d is allowed", most, limit)
			}
		})
	}
}

// What cannot be cut is parsed at growing distances: the cost per byte stays
// within a constant, the cost of most frames too.
func TestWorkPerByteIsBounded(t *testing.T) {
	th := testTheme(t)
	for name, text := range map[string]string{
		"table":       "| a | b |\n|---|---|\n" + strings.Repeat("| cell | another |\n", 3000),
		"nested list": "- top\n" + strings.Repeat("  - inner item\n", 4000),
		"indented":    strings.Repeat("    code\n", 7000),
		"one word":    strings.Repeat("abcdefgh", 8000),
		"bold":        "**" + strings.Repeat("bold words ", 6000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(th, 80)
			for i := 0; i < len(text); i += largePiece {
				s.Append(text[i:min(len(text), i+largePiece)])
			}
			if perByte := s.work / len(text); perByte > 500 {
				t.Errorf("%d units of work per byte", perByte)
			}
		})
	}
}

func frameWork(th theme.Theme, text string) (early, late, most int) {
	s := New(th, 100)
	frames := len(text) / largePiece
	for i := range frames {
		before := s.work
		s.Append(text[i*largePiece : (i+1)*largePiece])
		w := s.work - before
		switch i * 10 / frames {
		case 1:
			early += w
		case 9:
			late += w
		}
		most = max(most, w)
	}
	return early, late, most
}

// BenchmarkStream68K is one frame of a text that grows to 68 KiB, including
// what a screen of it is read for. Half of the frames take at most p50, all but
// one in a hundred at most p99: both must stay below a millisecond.
func BenchmarkStream68K(b *testing.B) {
	th := testTheme(b)
	for name, text := range texts68K(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var frames []time.Duration
			s, at := New(th, 100), 0
			for b.Loop() {
				if at+piece > len(text) {
					s, at = New(th, 100), 0
				}
				start := time.Now()
				s.Append(text[at : at+piece])
				_ = screen(s, 50)
				frames = append(frames, time.Since(start))
				at += piece
			}
			slices.Sort(frames)
			b.ReportMetric(float64(frames[len(frames)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(frames[len(frames)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkRender68K is the exact pass over a whole text.
func BenchmarkRender68K(b *testing.B) {
	th := testTheme(b)
	text := texts68K(b)["mixed"]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_ = Render(text, th, 100)
	}
}
