package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rookery/ui/theme"
)

func TestFormulas(t *testing.T) {
	th := testTheme(t)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"dollars", `so $E = mc^2$, with $\alpha_i \le \beta$.`, []string{"so E = mc², with αᵢ ≤ β."}},
		{"brackets", `so \(x^2\) and \[y_1 = 2\] and $$z^3$$`, []string{"so x² and y₁ = 2 and z³"}},
		{"in emphasis, a link, a table", "**$x^2$** [$y^2$](u)\n\n| $a_1$ |\n|-|\n| $b_2$ |", []string{"x² y² (u)", "", "a₁", "──", "b₂"}},
		{"no emphasis in it", `$a_1 * b_2 * c_3$`, []string{"a₁ * b₂ * c₃"}},
		{"not known", `a $\foo{x}_*y*$ b`, []string{`a $\foo{x}_*y*$ b`}},
		{"not in code", "`$x^2$` and\n\n```\n$x^2$\n$$\nx^2\n$$\n```", []string{"$x^2$ and", "", "│ $x^2$", "│ $$", "│ x^2", "│ $$"}},
		{"prices", "$5 and $6, US$5/US$6, $5-$6, $10 or 20 $.", []string{"$5 and $6, US$5/US$6, $5-$6, $10 or 20 $."}},
		{"more prices", "between $5 and 7$ it is $20 million and 30$", []string{"between $5 and 7$ it is $20 million and 30$"}},
		{"a shell", "echo $HOME/$PATH and ${x}$y", []string{"echo $HOME/$PATH and ${x}$y"}},
		{"escapes", `\$x^2\$ \[not a link\] \[1\] \(aside\) \(hi\)`, []string{`$x^2$ [not a link] [1] (aside) (hi)`}},
		{"a display", "then\n$$\n\\frac{a}{b} =\nc\n$$\nand", []string{"then", "  a/b = c", "and"}},
		{"brackets", "\\[\n\\begin{aligned} a &= 1 \\\\ b &= 2 \\end{aligned}\n\\]", []string{"  a = 1", "  b = 2"}},
		{"minus signs begin no list", "$$\na\n- b\n+ c\n$$", []string{"  a - b + c"}},
		{"in an item", "- x\n  $$\n  y^2\n  $$\n- z", []string{"• x", "    y²", "• z"}},
		{"an unknown display", "$$\n\\foo\n$$\nx", []string{"$$", `\foo`, "$$", "x"}},
		{"never closed", "$$\nprice\n\n**after**", []string{"$$", "price", "", "after"}},
		{"not closed yet", "$$\nx^2 +", []string{"  x² +"}},
		{"begun in a line", "$$ x\n+ y\n$$\n\nafter *it*", []string{"$$ x", "• y", "$$", "", "after it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, plain(Render(c.text, th, 60))); d != "" {
				t.Error(d)
			}
			s := streamed(th, 60, c.text, tight, func() int { return 3 })
			if d := cmp.Diff(c.want, plain(all(s))); d != "" {
				t.Errorf("streamed:\n%s", d)
			}
		})
	}
}

// Where glyphs are plain, or read aloud, a formula stands as it was written.
func TestFormulasInPlainGlyphs(t *testing.T) {
	text := "so $x^2$ is\n\n$$\n\\frac{a}{b}\n$$"
	want := []string{"so $x^2$ is", "", "$$", `\frac{a}{b}`, "$$"}
	for _, glyphs := range []theme.Glyphs{theme.ASCIIGlyphs(), theme.SpokenGlyphs()} {
		if d := cmp.Diff(want, plain(Render(text, testTheme(t).WithGlyphs(glyphs), 60))); d != "" {
			t.Error(d)
		}
	}
}
