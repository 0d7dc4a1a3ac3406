package tex

import "strings"

// pairs reads a table of names and what they stand for, in turns.
func pairs(text string) map[string]string {
	words := strings.Fields(text)
	m := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}

// runes maps the characters of one text to those of another.
func runes(from, to string) map[rune]rune {
	m := map[rune]rune{}
	target := []rune(to)
	for i, c := range []rune(from) {
		m[c] = target[i]
	}
	return m
}

// symbols are the commands without arguments.
var symbols = func() map[string]string {
	m := pairs(`
alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ
lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ
phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ
Phi Φ Psi Ψ Omega Ω
times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙
wedge ∧ land ∧ vee ∨ lor ∨ neg ¬ lnot ¬ cap ∩ cup ∪ setminus ∖ dagger † ddagger ‡
le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅
equiv ≡ propto ∝ doteq ≐ prec ≺ succ ≻ preceq ⪯ succeq ⪰ lt < gt > coloneqq ≔ triangleq ≜
in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ emptyset ∅ varnothing ∅
forall ∀ exists ∃ nexists ∄ therefore ∴ because ∵ top ⊤ bot ⊥ perp ⊥ parallel ∥ mid | vdash ⊢
models ⊨ angle ∠ triangle △ square □ blacksquare ■ qed ∎ checkmark ✓
to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔
implies ⟹ impliedby ⟸ iff ⟺ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹ mapsto ↦ gets ←
uparrow ↑ downarrow ↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓ nearrow ↗ searrow ↘ swarrow ↙ nwarrow ↖
hookrightarrow ↪ hookleftarrow ↩ rightharpoonup ⇀ leftharpoonup ↼ rightleftharpoons ⇌ leadsto ⇝
sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigvee ⋁ bigwedge ⋀
bigoplus ⨁ bigotimes ⨂ partial ∂ nabla ∇ infty ∞ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ wp ℘ prime ′ degree °
ldots … dots … dotsc … cdots ⋯ dotsb ⋯ vdots ⋮ ddots ⋱ imath ı jmath ȷ
langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } lbrack [ rbrack ] vert | lvert | rvert |
Vert ‖ lVert ‖ rVert ‖ backslash \ colon : bmod mod pounds £ euro € S § P ¶ copyright ©`)
	for _, spaces := range []string{"quad", "qquad", "enspace", "thinspace"} {
		m[spaces] = "  "
	}
	m["mod"] = " mod "
	m["bmod"] = " mod "
	return m
}()

// functions are written as their names.
var functions = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth exp log ln lg
		lim limsup liminf max min sup inf arg det dim ker gcd deg hom Pr argmax argmin`) {
		m[name] = true
	}
	return m
}()

// accents are combining characters.
var accents = map[string]string{
	"hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0304", "tilde": "\u0303", "widetilde": "\u0303",
	"vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308", "check": "\u030c", "breve": "\u0306", "underline": "\u0332",
}

// negations are what \not makes of a sign.
var negations = pairs(`= ≠ < ≮ > ≯ ∈ ∉ ∋ ∌ ⊂ ⊄ ⊃ ⊅ ⊆ ⊈ ⊇ ⊉ ≤ ≰ ≥ ≱ ≡ ≢ ≈ ≉ ∼ ≁ ≅ ≇ ∃ ∄ ∥ ∦ | ∤`)

var (
	raised = runes("0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθϕφχ′",
		"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵠᵡ′")
	lowered = runes("0123456789+-−=()aehijklmnoprstuvxβγρϕφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵩᵪ")
)

// alphabets are the letters of other shapes, as far as most fonts have them.
var alphabets = map[string]map[rune]rune{
	"mathbb":   runes("CHNPQRZ1EFABDGIJKLMOSTUVWXY", "ℂℍℕℙℚℝℤ𝟙𝔼𝔽𝔸𝔹𝔻𝔾𝕀𝕁𝕂𝕃𝕄𝕆𝕊𝕋𝕌𝕍𝕎𝕏𝕐"),
	"mathcal":  runes("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ"),
	"mathscr":  runes("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ"),
	"mathfrak": runes("CHIRZ", "ℭℌℑℜℨ"),
}

// An environment is what stands around its rows, and between them; a line break
// if that is empty.
type environment struct{ open, row, close string }

var environments = map[string]environment{
	"aligned": {}, "align": {}, "alignat": {}, "equation": {}, "gather": {}, "gathered": {}, "split": {}, "multline": {},
	"matrix": {"", "; ", ""}, "smallmatrix": {"", "; ", ""}, "pmatrix": {"(", "; ", ")"}, "bmatrix": {"[", "; ", "]"},
	"Bmatrix": {"{", "; ", "}"}, "vmatrix": {"|", "; ", "|"}, "Vmatrix": {"‖", "; ", "‖"}, "cases": {"{ ", "; ", ""},
}
