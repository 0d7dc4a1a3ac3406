package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// assemble pushes text in pieces that next chooses the sizes of.
func assemble(t *testing.T, text string, next func() int) string {
	t.Helper()
	var a Assembler
	var out strings.Builder
	for rest := text; len(rest) > 0; {
		n := min(len(rest), next())
		got := a.Push([]byte(rest[:n]))
		if !utf8.ValidString(got) {
			t.Fatalf("%q: pushed %q, got %q, which is not UTF-8", text, rest[:n], got)
		}
		out.WriteString(got)
		rest = rest[n:]
		p := a.Pending()
		if len(p) > 3 || len(p) > 0 && utf8.FullRune(p) {
			t.Fatalf("%q: %q is held back and can never become a character", text, p)
		}
		var b Assembler // going on from the pending bytes is going on
		b.Restore(p)
		a = b
	}
	out.WriteString(a.Flush())
	if a.Pending() != nil || a.Flush() != "" {
		t.Fatalf("%q: something is left after Flush", text)
	}
	return out.String()
}

var assemblerTexts = []string{
	"", "plain", "é", "你好，世界", "😀👩‍💻", "\ufffd", "a\ufffdb",
	"\xff", "\xe4\xbd", "\xe4\xbda", "\xe4\xe4\xbd\xa0", "\xf0\x9f\x98", "\xf0\x9f\x98\xf0\x9f\x98\x80",
	"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\x80\x80\x80\x80\x80",
	"ok\xe4\xbd\xffok\xf0\x9fok", "\xe4\xbd\xe4\xbd\xe4\xbd\xa0",
}

func TestAssemblerJoinsToTheSameText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := assemblerTexts
	alphabet := []string{"a", "é", "你", "😀", "\xff", "\x80", "\xe4", "\xbd", "\xf0", "\x9f", "\xed", "\xa0", "\xf4", "\x90"}
	for range 300 {
		var b strings.Builder
		for range rng.IntN(20) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		texts = append(texts, b.String())
	}
	for _, text := range texts {
		want := string([]rune(text))
		for size := 1; size <= 6; size++ {
			if got := assemble(t, text, func() int { return size }); got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
		if got := assemble(t, text, func() int { return 1 + rng.IntN(5) }); got != want {
			t.Errorf("%q in random pieces: %q, want %q", text, got, want)
		}
	}
}

func TestAssemblerIsNeverLate(t *testing.T) {
	var a Assembler
	for _, c := range []struct{ push, want, pending string }{
		{"a", "a", ""},
		{"b\xe4", "b", "\xe4"},
		{"\xbd", "", "\xe4\xbd"},
		{"\xa0", "你", ""},
		{"\xf0\x9f\x98", "", "\xf0\x9f\x98"},
		{"!", "\ufffd\ufffd\ufffd!", ""},
		{"\xff", "\ufffd", ""},
		{"\xe4", "", "\xe4"},
		{"\xf0", "\ufffd", "\xf0"},
		{"", "", "\xf0"},
		{"\x9f\x98\x80é", "😀é", ""},
	} {
		if got := a.Push([]byte(c.push)); got != c.want || string(a.Pending()) != c.pending {
			t.Errorf("push %q: %q and %q held back, want %q and %q", c.push, got, a.Pending(), c.want, c.pending)
		}
	}
}

func TestAssemblerRestore(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\xe4\xbd", "\xe4\xbd"},
		{"\xf0\x9f\x98", "\xf0\x9f\x98"},
		{"text\xe4", "\xe4"}, // only what can still become a character
		{"text", ""},
		{"\xff\xff\xff\xff", ""},
	} {
		a := Assembler{tail: [3]byte{0xf0, 0x9f}, n: 2}
		a.Restore([]byte(c.in))
		if got := string(a.Pending()); got != c.want {
			t.Errorf("restoring %q keeps %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzAssembler(f *testing.F) {
	for _, s := range assemblerTexts {
		f.Add([]byte(s), uint64(1))
		f.Add([]byte(s), uint64(0x1234))
	}
	f.Fuzz(func(t *testing.T, text []byte, sizes uint64) {
		rng := rand.New(rand.NewPCG(sizes, 0))
		got := assemble(t, string(text), func() int { return 1 + rng.IntN(6) })
		if want := string([]rune(string(text))); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}
