package infer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"rookery/infer/tokenizer"
)

var bytewise = tokenizer.NewBytes()

// byteAnswer is an answer whose tokens are bytes.
func byteAnswer(stops ...string) answer {
	return answer{vocabulary: bytewise, stops: newStopper(stops)}
}

// say pushes the bytes of text until a stop is found.
func say(a *answer, text string) (shown string, cut int, found bool) {
	for _, b := range []byte(text) {
		piece, cut, found := a.push(int32(b))
		if shown += piece; found {
			return shown, cut, true
		}
	}
	return shown, 0, false
}

func TestAnswerShowsWhatIsCertain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		stops := []string{randomText(r, 5, "ab"), randomText(r, 5, "ab世")}
		text := randomText(r, 20, "abc世界")
		a := byteAnswer(stops...)
		shown, cut, found := say(&a, text)
		start, end := naiveStop(text, stops)
		if found != (end >= 0) || found && cut != start {
			t.Fatalf("%q in %q: cut %d, %v; want %d, %v", stops, text, cut, found, start, end >= 0)
		}
		want := text
		if found {
			want = text[:start]
		} else {
			want = want[:len(want)-naivePending(text, stops)]
		}
		if got := shown + string(a.text.Pending()); string([]rune(got)) != string([]rune(want)) {
			t.Fatalf("%q in %q: %q is shown, want %q", stops, text, got, want)
		}
		if !utf8.ValidString(shown) {
			t.Fatalf("%q in %q: %q is shown, which is not UTF-8", stops, text, shown)
		}
		if rest := shown + a.releaseHeld(); !found && string([]rune(rest+string(a.text.Pending()))) != string([]rune(text)) {
			t.Fatalf("%q in %q: %q after release", stops, text, rest)
		}
	}
}

func TestAnswerIsCutAtItsBeginningAtMost(t *testing.T) {
	tests := []struct{ before, text, shown string }{
		{"hello\n\nUs", "er: more", ""},
		{"hello\n", "\nUser: more", ""},
		{"hello\n\nUs", "e it\n\nUser:", "e it"},
		{"hello\n\nUser:", "x", "x"}, // what was there already is no stop of this answer
	}
	for _, tt := range tests {
		a := byteAnswer("\n\nUser:")
		for _, b := range []byte(tt.before) {
			a.primeStops([]int32{int32(b)})
		}
		shown, cut, found := say(&a, tt.text)
		if want := strings.Contains(tt.before[1:]+tt.text, "\n\nUser:") && tt.text != "x"; found != want {
			t.Errorf("%q then %q: found %v", tt.before, tt.text, found)
		}
		if shown != tt.shown || found && cut != len(tt.shown) {
			t.Errorf("%q then %q: shown %q, cut %d; want %q", tt.before, tt.text, shown, cut, tt.shown)
		}
	}
}

func TestAnswerLocate(t *testing.T) {
	vocabulary, err := tokenizer.Parse("test", vocabularyWith("abc", "de"))
	if err != nil {
		t.Fatal(err)
	}
	a := answer{vocabulary: vocabulary}
	for _, id := range vocabulary.Encode(nil, "abcde") {
		a.push(id)
	}
	want := []struct {
		n    int
		part string
	}{{0, ""}, {0, "a"}, {0, "ab"}, {1, ""}, {1, "d"}, {2, ""}}
	for offset, w := range want {
		if n, part := a.locate(offset); n != w.n || string(part) != w.part {
			t.Errorf("offset %d is %d tokens and %q, want %d and %q", offset, n, part, w.n, w.part)
		}
	}
}
