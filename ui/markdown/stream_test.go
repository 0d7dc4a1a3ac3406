package markdown

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"rookery/ui/theme"
)

func plain(lines []string) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, ansi.Strip(l))
	}
	return out
}

func TestGolden(t *testing.T) {
	th := testTheme(t)
	for _, name := range []string{"reply", "awkward"} {
		text, err := os.ReadFile("testdata/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+" 80", func(t *testing.T) {
			golden.RequireEqual(t, strings.Join(Render(string(text), th, 80), "\n"))
		})
		t.Run(name+" 36", func(t *testing.T) {
			golden.RequireEqual(t, strings.Join(plain(Render(string(text), th, 36)), "\n"))
		})
		t.Run(name+" spoken", func(t *testing.T) {
			spoken := Render(string(text), th.WithGlyphs(theme.SpokenGlyphs()), 60)
			golden.RequireEqual(t, strings.Join(plain(spoken), "\n"))
		})
	}
}

func TestRender(t *testing.T) {
	th := testTheme(t)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs of a loose item stay apart", "2. two\n\n   continued", []string{"2. two", "", "   continued"}},
		{"hard breaks and soft ones", "a  \nb\\\nc\nd", []string{"a", "b", "c", "d"}},
		{"unknown tags", "text <tag> </think>\n\n<div>\nblock\n</div>", []string{"text <tag> </think>", "", "<div>", "block", "</div>"}},
		{"code keeps its indent in a list", "- x\n  ```\n  a\n    b\n  ```", []string{"• x", "", "  │ a", "  │   b"}},
		{"numbers go on", "3. a\n3. b", []string{"3. a", "4. b"}},
		{"tabs in code", "```\n\ta\tb\n```", []string{"│     a   b"}},
		{"a word longer than the line", "abcdefghijklmnopqrstuvwxyz", []string{"abcdefghijklmnopqrst", "uvwxyz"}},
		{"no closing mark at the start of a line", "一二三四五六七八九十。", []string{"一二三四五六七八九", "十。"}},
		{"a break after a hyphen", "a very well-considered-word", []string{"a very well-", "considered-word"}},
		{"a narrow table", "|a|b|c|d|\n|-|-|-|-|\n|long word|x|y|long word too|", []string{
			"a: long word", "b: x", "c: y", "d: long word too",
		}},
		{"entities", "&lt;&#65;&#x42;&unknown; &amp;", []string{"<AB&unknown; &"}},
		{"a line break tag", "a<br>b<BR/>c", []string{"a", "b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, plain(Render(c.text, th, 20))); d != "" {
				t.Error(d)
			}
		})
	}
}

// Emphasis shows on code and links, too.
func TestEmphasisIsKept(t *testing.T) {
	for text, want := range map[string]string{
		"**`a`**":       "\x1b[1;36ma\x1b[m",
		"***`a`***":     "\x1b[3;1;36ma\x1b[m",
		"*[a](#b)*":     "\x1b[3;34;4ma\x1b[m",
		"**a** ~~*b*~~": "\x1b[1ma\x1b[m \x1b[3;9mb\x1b[m",
		"*a **b***":     "\x1b[3ma \x1b[m\x1b[1;3mb\x1b[m",
	} {
		if got := Render(text, testTheme(t), 80); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// Nothing in a text may reach the terminal as a command.
func TestControlsAreShown(t *testing.T) {
	th := testTheme(t)
	for text, want := range map[string]string{
		"a\x1b[31mb":        "a␛[31mb",
		"\x1b]0;title\a":    "␛]0;title␇",
		"\u009b31m":         "\ufffd31m",
		"a\x00b\x7f":        "a␀b␡",
		"&#27;[2J":          "␛[2J",
		"&#x9b;2J":          "\ufffd2J",
		"`\x1b[2J`":         "␛[2J",
		"```\n\x1b[2J\n```": "│ ␛[2J",
		"[x](\x1b[2J)":      "x (␛[2J)",
		"abc\u202ecba":      "abc\ufffdcba",
		"\xff\xfe":          "\ufffd\ufffd",
		"a\rb":              "a",
		"a&#10;b":           "a b",
	} {
		got := plain(Render(text, th, 80))
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestCodeBlocks(t *testing.T) {
	text := "```go\na\tb\n\n```\n\n- item\n\n  ```sh\n  ls\n    -l\n  ```\n\n  ~~~\n  indented fence\n  ~~~\n\ntext\n\n```\n```\n\n   ```py\n   def f():\n       pass"
	want := []string{"a\tb\n\n", "ls\n  -l\n", "indented fence\n", "def f():\n    pass\n"}
	if d := cmp.Diff(want, CodeBlocks(text)); d != "" {
		t.Error(d)
	}
}

func TestLines(t *testing.T) {
	s := New(testTheme(t), 20)
	if s.Len() != 0 {
		t.Errorf("an empty stream has %d lines", s.Len())
	}
	s.Append("one\n\ntwo\n\nthree")
	if d := cmp.Diff([]string{"one", "", "two", "", "three"}, all(s)); d != "" {
		t.Error(d)
	}
}

// Renderers share nothing that is not safe to share.
func TestRenderConcurrently(t *testing.T) {
	th := testTheme(t)
	text := corpus(t)["reply.md"]
	want := strings.Join(Render(text, th, 50), "\n")
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(Render(text, th, 50), "\n"); got != want {
				t.Error("the same text is rendered differently")
			}
		})
	}
}
