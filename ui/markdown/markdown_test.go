package markdown

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"rookery/ui/theme"
)

func testTheme(t testing.TB) theme.Theme {
	t.Helper()
	th, err := theme.New(theme.Default, true)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// corpus are texts with everything that a model writes.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{
		"empty": "", "blank": "\n\n \n", "bom": "\ufefftext",
		"long paragraph": strings.Repeat("Words of a paragraph that does not end, with *emphasis* and `code`. ", 30),
		"stray marks":    strings.Repeat("A stray *mark and an [open bracket in a long paragraph. ", 30) + "closed* at last",
		"setext late":    strings.Repeat("a long line of text ", 40) + "\n===\nmore",
		"one word":       strings.Repeat("abcdefghij", 80),
		"chinese":        strings.Repeat("没有空格的很长的段落，", 60),
		"long list":      strings.Repeat("- item with **bold** text\n  and a second line\n", 40),
		"numbers":        "3. three\n" + strings.Repeat("3. next\n\n", 20) + "text",
		"quote":          strings.Repeat("> a paragraph\n> of two lines\n>\n", 20) + "> end\n\nafter",
		"quoted list":    "> intro\n>\n" + strings.Repeat("> 1. item\n>    more\n", 20) + ">\n> outro",
		"wide table":     "|" + strings.Repeat("a|", 40) + "\n|" + strings.Repeat("-|", 40) + "\n|" + strings.Repeat("b|", 40),
		"long table":     "| a | b |\n|---|---|\n" + strings.Repeat("| cell | another `cell` |\n", 40) + "\nafter",
		"nested list":    "- top\n" + strings.Repeat("  - inner item of some length\n", 40) + "\nafter",
		"deep":           strings.Repeat("> ", 40) + "deep\n\n" + strings.Repeat("- ", 40) + "deep",
		"late link":      "See [a] and [b].\n\nMore\n\n[a]: http://a.example\n\nAgain [a].\n\n[b]: http://b.example",
		"links only":     "[a]: http://a.example\n\n[b]: http://b.example\n\ntext [a]",
		"quoted link":    "text\n\n> [a]: http://a.example\n\nafter [a]",
		"fence at end":   "text\n\n```go\nfunc main() {\n",
		"closed fence":   "```\n\n\n```\n\n````\n```\n````\nafter\n```",
		"empty fence":    "a\n\n```\n```\n\nb",
		"hashtag":        "paragraph\n#tag goes on\n\n- list\n-5 goes on\n\n* list\n\n**bold**\n\n1. one\n\n2 goes on\n\n2.\n",
		"title late":     "[a]: /url\n\"line one\nline two\"\ntext [a]",
		"odd backquote":  "`a " + strings.Repeat("Words of a paragraph that does not end, with *emphasis* and `code`. ", 20) + " and `",
		"text and table": strings.Repeat("text\n| not | yet\na | b\n--|--\n1 | 2\n\n", 8),
		"formulas":       strings.Repeat("Let $x_1^2 = \\frac{a}{b}$ cost $5, or \\(y\\) or $z.\n$$\n\\sum_i x_i\n$$\nthen\n\n", 20),
		"formula late":   strings.Repeat("a long line ", 20) + "with $x " + strings.Repeat("and y ", 60) + "= 2$ at last",
		"displays":       "- a\n  $$\n  x\n\n  $$\n  y\n  $$\n\n\\[\nx\n\\]\n$$\nopen",
		"escapes":        `\*not emphasis\* \[not a link\] C:\dir \\ &#27;[31m`,
	}
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = string(b)
	}
	return texts
}

// tight are limits that make small texts meet every bound.
var tight = limits{paragraph: 200, keep: 60, block: 300}

func streamed(th theme.Theme, width int, text string, l limits, next func() int) *Stream {
	s := New(th, width)
	s.limits = l
	for len(text) > 0 {
		n := min(len(text), max(1, next()))
		s.Append(text[:n])
		text = text[n:]
	}
	return s
}

func all(s *Stream) []string { return screen(s, s.Len()) }

// screen are the last n lines.
func screen(s *Stream, n int) []string {
	var lines []string
	for i := max(0, s.Len()-n); i < s.Len(); i++ {
		lines = append(lines, s.Line(i))
	}
	return lines
}

// A streamed text looks as the finished one will, but for what a stream cannot
// know: what a link means that is defined later, and that a long paragraph is a
// heading. Tight limits also cut other long blocks, or leave their ends unparsed.
func TestStreamedEqualsRendered(t *testing.T) {
	th := testTheme(t)
	usual := New(th, 1).limits
	cut := []string{"nested list", "long table", "formula late", "odd backquote"}
	for name, text := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			for _, c := range []struct {
				width, most int
				limits      limits
			}{
				{30, 2, tight}, {7, 40, tight}, {80, 12, usual}, {1, 90, usual},
			} {
				want := Render(text, th, c.width)
				s := streamed(th, c.width, text, c.limits, func() int { return 1 + rng.IntN(c.most) })
				if name == "late link" || name == "setext late" || c.limits == tight && slices.Contains(cut, name) {
					check(t, all(s), c.width)
					continue
				}
				if d := cmp.Diff(want, all(s)); d != "" {
					t.Errorf("width %d, pieces up to %d: rendered and streamed differ:\n%s", c.width, c.most, d)
				}
			}
		})
	}
}

func TestLinesFitAndAreTrimmed(t *testing.T) {
	base := testTheme(t)
	texts := corpus(t)
	for g, glyphs := range []theme.Glyphs{theme.UnicodeGlyphs(), theme.ASCIIGlyphs(), theme.SpokenGlyphs()} {
		th := base.WithGlyphs(glyphs)
		for name, text := range texts {
			t.Run(fmt.Sprintf("%s/%d", name, g), func(t *testing.T) {
				t.Parallel()
				for _, width := range []int{1, 2, 5, 13, 40, 200} {
					check(t, Render(text, th, width), width)
				}
				check(t, all(streamed(th, 21, text, tight, func() int { return 31 })), 21)
			})
		}
	}
}

// check holds what is true of all lines of all texts.
func check(t *testing.T, lines []string, width int) {
	t.Helper()
	for i, l := range lines {
		plain := ansi.Strip(l)
		if w := ansi.StringWidth(l); w > width {
			t.Errorf("line %d is %d wide: %q", i, w, l)
		}
		if strings.TrimRight(plain, " ") != plain {
			t.Errorf("line %d ends in blanks: %q", i, l)
		}
		if !utf8.ValidString(l) {
			t.Errorf("line %d is not UTF-8: %q", i, l)
		}
		for _, r := range sgr.ReplaceAllString(l, "") {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Errorf("line %d has the control character %U: %q", i, r, l)
			}
		}
	}
}

// sgr are the only sequences that a line may have: styles.
var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Colours come from the theme: by default the terminal's own sixteen.
func TestColoursAreTheThemes(t *testing.T) {
	texts := corpus(t)
	trueColour := regexp.MustCompile(`\x1b\[[0-9;]*[34]8[;:]`)
	for _, dark := range []bool{true, false} {
		for _, name := range theme.Names() {
			th, err := theme.New(name, dark)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, text := range texts {
				found = found || trueColour.MatchString(strings.Join(Render(text, th, 80), "\n"))
			}
			if found != (name != theme.Default) {
				t.Errorf("%s, dark %v: other colours than the sixteen: %v", name, dark, found)
			}
		}
	}
}
