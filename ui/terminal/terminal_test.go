package terminal_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rookery/ui/terminal"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Über 猫 😀\nnext", "Über 猫 😀\nnext"},
		{"an escape", "a\x1b[31mb\x1b]0;title\ac", "a[31mb]0;titlec"},
		{"C1", "a\u009b31mb\u0090c", "a31mbc"},
		{"a broken C1", "a\x9b31m", "a\ufffd31m"},
		{"line ends", "a\r\nb\rc\u2028d\te", "a\nb\nc\nd    e"},
		{"directions", "a\u202eb\u2066c\u200ed\u061ce", "abcde"},
		{"no width", "a\u200bb\u2060c\ufeffd\u00ade\u200df\u200cg", "abcdefg"},
		{"fillers", "a\u3164b\u115fc\uffa0d\u034fe", "abcde"},
		{"tags", "a\U000e0041\U000e0042b\U000e007f", "ab"},
		{"hidden in selectors", "a\ufe00\ufe01\U000e0100\U000e01efb", "ab"},
		{"a row of selectors", "❤\ufe0f\ufe0f\ufe01b", "❤\ufe0fb"},
		{"a row of joiners", "क\u200d\u200d\u200dष", "क\u200dष"},
		{"a family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"a pilot", "👩🏽\u200d✈\ufe0f", "👩🏽\u200d✈\ufe0f"},
		{"a rainbow", "🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"},
		{"a key", "1\ufe0f⃣", "1\ufe0f⃣"},
		{"Scotland", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
		{"a flag without an end", "🏴\U000e0067\U000e0062b", "🏴b"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Sinhala", "ශ්\u200dරී", "ශ්\u200dරී"},
		{"Malayalam", "അവന്\u200d വന്നു", "അവന്\u200d വന്നു"},
		{"a Kanji's form", "葛\U000e0100城", "葛\U000e0100城"},
		{"an Arabic sign", "\u0600١", "\u0600١"},
		{"a joiner at the end", "👨\u200d", "👨"},
	} {
		if got := terminal.Clean(c.text); got != c.want {
			t.Errorf("%s: %+q, want %+q", c.name, got, c.want)
		}
		if again := terminal.Clean(terminal.Clean(c.text)); again != c.want {
			t.Errorf("%s: cleaned again it is %+q", c.name, again)
		}
		var whole, pieces terminal.Cleaner
		want := whole.Flush(whole.Append(nil, c.text))
		var got []byte
		for i := range len(c.text) {
			got = pieces.Append(got, c.text[i:i+1])
		}
		if got = pieces.Flush(got); string(got) != string(want) {
			t.Errorf("%s: byte by byte it is %+q, want %+q", c.name, got, want)
		}
	}
}

// A writer shows that something is there, and passes on nothing that acts.
func TestWriter(t *testing.T) {
	var b strings.Builder
	w := terminal.NewWriter(&b)
	for _, p := range []string{"a\x1b]52;c;", "eA==\a", "b\u202ec\u200bd\te\r", "\nf\xf0\x9f", "\x98\x80\n"} {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := "a␛]52;c;eA==␇b\ufffdcd\te\nf😀\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestLine(t *testing.T) {
	if got := terminal.Line("a\n\tb\x1b[2J  c", 0); got != "a b[2J c" {
		t.Errorf("%q", got)
	}
	if got := terminal.Line(strings.Repeat("é", 1000), 200); utf8.RuneCountInString(got) != 200 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31m\u202e\U000e0041👨\u200d👩\ufe0f\r\x9b", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		got := terminal.Clean(text)
		if !utf8.ValidString(got) || terminal.Clean(got) != got {
			t.Fatalf("%+q gives %+q and then %+q", text, got, terminal.Clean(got))
		}
		for _, r := range got {
			if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b {
				t.Fatalf("%+q passes in %+q", r, got)
			}
		}
		if at = min(max(at, 0), len(text)); at > 0 {
			var whole, pieces terminal.Cleaner
			want := whole.Flush(whole.Append(nil, text))
			if have := pieces.Flush(pieces.Append(pieces.Append(nil, text[:at]), text[at:])); string(have) != string(want) {
				t.Fatalf("in two pieces it is %+q, want %+q", have, want)
			}
		}
	})
}
