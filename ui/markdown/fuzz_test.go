package markdown

import "testing"

// FuzzStream feeds any bytes in pieces: nothing may panic, be too wide or
// reach the terminal as a control character.
func FuzzStream(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add([]byte(text), uint8(20), uint8(7))
	}
	for _, text := range monsters() {
		f.Add([]byte(text[:min(len(text), 3000)]), uint8(30), uint8(60))
	}
	for _, text := range []string{
		"\x1b]0;title\a\x1b[31mred\x9b31m\u009b0m", "\xff\xfe\r\r\n\xe4\xb8", "00\n\xb8", "a\x00b\u202Ec\u2066d\u2028e",
		"&#27;[31m &#x9b;0m &#0; &#10; &Tab; &NewLine;", "- - - a\n    - b\n\t- c", "> - > - a\n> - > - b",
		"[[[[[[[[[[]]]]](((((", "**__~~``**__~~``", "|\n|-|\n||||", "1. a\n\n\n   b\n2) c", "``` \n```\n~~~\n```",
		"a\n```\n```\nb", "para\n\na | b\n--|--| 2", "   ```\n  ", "[b].\n\nMore\n\n[b]: [a] h", "para\n| no\n\ta | b\n--|-\nc", "1. a\n\n   ```\n  b", "   ```\n\t/\n \tx\n```\u00a0\n", "- a\n- b\n- \nfoo bar\n- i", "[a]: b\n[c]: d 'e\nf'\n\n[a][c]", "\t\t\t\tx\n  \t y", "$\\foo\tx$", "$$\n$a$$\n\n$$x\n$$ y\\(z\\)", "`a\\`[`b\\c`](u)~~`d\\`~~*[`e\\`](v)*", "&amp;lt; `&lt;` \\\\* &#92;*", "🇩🇪🇩e\u0301\u200d\ufe0f|\u3000",
	} {
		f.Add([]byte(text), uint8(5), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, width, piece uint8) {
		if len(text) > 4096 {
			return // long texts are slow to feed byte by byte, not different
		}
		th := testTheme(t)
		w := int(width)%100 + 1
		check(t, Render(string(text), th, w), w)
		check(t, all(streamed(th, w, string(text), tight, func() int { return int(piece)%64 + 1 })), w)
	})
}
