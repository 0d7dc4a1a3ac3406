package tex

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnicode(t *testing.T) {
	for formula, want := range map[string]string{
		`E = mc^2`:                       "E = mc²",
		`x_1^2 + x_{n+1}`:                "x₁² + xₙ₊₁",
		`\alpha \le \beta`:               "α ≤ β",
		`\frac{a}{b}`:                    "a/b",
		`\frac{a+b}{2c}`:                 "(a+b)/(2c)",
		`\frac12`:                        "1/2",
		`\frac{dy}{dx}`:                  "dy/dx",
		`\frac{\partial f}{\partial x}`:  "∂f/∂x",
		`\sqrt{2}`:                       "√2",
		`\sqrt{x^2+1}`:                   "√(x²+1)",
		`\sqrt[3]{x}`:                    "∛x",
		`\sqrt[n]{x}`:                    "ⁿ√x",
		`\sum_{i=1}^{n} i`:               "∑ᵢ₌₁ⁿ i",
		`\int_0^\infty e^{-x^2}\,dx`:     "∫₀^∞ e^(-x²) dx",
		`x^{q}`:                          "x^q",
		`x_{ab}`:                         "x_(ab)",
		`f: \mathbb{R}^n \to \mathbb{R}`: "f: ℝⁿ → ℝ",
		`\mathcal{O}(n \log n)`:          "O(n log n)",
		`\sin\theta + \cos x`:            "sin θ + cos x",
		`\lim_{x \to 0} f(x)`:            "lim_(x → 0) f(x)",
		`\left( \frac{1}{2} \right)`:     "( 1/2 )",
		`\left. x \right|_0`:             "x |₀",
		`\hat{x} + \vec{v}`:              "x̂ + v⃗",
		`\text{if } x \neq 0`:            "if x ≠ 0",
		`\mathrm{softmax}(QK^T)`:         "softmax(QKᵀ)",
		`A \not\in B`:                    "A ∉ B",
		`a \equiv b \pmod{n}`:            "a ≡ b (mod n)",
		`\{ x \mid x > 0 \}`:             "{ x | x > 0 }",
		`90^\circ`:                       "90°",
		`f'(x)`:                          "f′(x)",
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`:              "(a b; c d)",
		"\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}":     "a = b\nc = d",
		`|x| = \begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}`: "|x| = { x x ≥ 0; -x x < 0",
		`\binom{n}{k}`: "(n choose k)",
	} {
		if got, ok := Unicode(formula); !ok || got != want {
			t.Errorf("%s is %q, %v; want %q", formula, got, ok, want)
		}
	}
}

// What has no form on one line is refused, and so is what is no formula.
func TestRefused(t *testing.T) {
	for _, formula := range []string{
		``, ` `, `\unknown`, `\frac{a}`, `{a`, `a}`, `x^`, `\begin{tikzpicture}\end{tikzpicture}`, `\underbrace{x}_{y}`,
		`\begin{matrix} a`, `\sqrt[3`, `\`, `a $ b`, `\hat{ab}`, `\text{a`, `\left`, `\mathbb{?}`,
		strings.Repeat(`\frac{`, 1000), strings.Repeat(`{`, 100000), strings.Repeat(`^`, 1000), `x` + strings.Repeat(`^\hat`, 100000),
	} {
		if got, ok := Unicode(formula); ok {
			t.Errorf("%.40q is %q", formula, got)
		}
	}
}

func FuzzUnicode(f *testing.F) {
	for _, s := range []string{`\frac{a}{b}`, `x_{1}^\alpha`, `\begin{pmatrix}a\\b\end{pmatrix}`, `\sqrt[3]{x}`, `\text{a}\mathbb R`, "\\\xff{", `\left(\not=`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, ok := Unicode(s)
		if ok && (out == "" || utf8.ValidString(s) && !utf8.ValidString(out) || len(out) > 20*len(s)+20) {
			t.Errorf("%q is %q", s, out)
		}
	})
}
