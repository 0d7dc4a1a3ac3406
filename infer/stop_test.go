package infer

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// naiveStop looks for the first stop in text by definition: the earliest end
// and, of several that end there, the longest. end is -1 if there is none.
func naiveStop(text string, stops []string) (start, end int) {
	for end := 1; end <= len(text); end++ {
		longest := 0
		for _, s := range stops {
			if strings.HasSuffix(text[:end], s) {
				longest = max(longest, len(s))
			}
		}
		if longest > 0 {
			return end - longest, end
		}
	}
	return 0, -1
}

// naivePending is the longest end of text that is a proper beginning of a stop.
func naivePending(text string, stops []string) int {
	for n := len(text); n > 0; n-- {
		for _, s := range stops {
			if n < len(s) && strings.HasPrefix(s, text[len(text)-n:]) {
				return n
			}
		}
	}
	return 0
}

func checkStopper(t *testing.T, text string, stops []string) {
	t.Helper()
	s := newStopper(stops)
	wantStart, wantEnd := naiveStop(text, stops)
	for i := range len(text) {
		n := s.next(text[i])
		if i+1 == wantEnd {
			if n != wantEnd-wantStart {
				t.Fatalf("%q in %q: found %d bytes at %d, want %d", stops, text, n, i+1, wantEnd-wantStart)
			}
			return
		}
		if n != 0 {
			t.Fatalf("%q in %q: found %d bytes at %d, want none before %d", stops, text, n, i+1, wantEnd)
		}
		if got, want := s.pending(), naivePending(text[:i+1], stops); got != want {
			t.Fatalf("%q in %q: %d bytes pending, want %d", stops, text[:i+1], got, want)
		}
	}
}

func randomText(r *rand.Rand, longest int, alphabet string) string {
	b := make([]byte, 1+r.IntN(longest))
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func TestStopperAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		stops := make([]string, r.IntN(5))
		for i := range stops {
			stops[i] = randomText(r, 6, "ab")
		}
		checkStopper(t, randomText(r, 24, "abc"), stops)
	}
}

func TestStopperGoesOnAfterAStop(t *testing.T) {
	s := newStopper([]string{"aba"})
	var ends []int
	for i, b := range []byte("ababa") {
		if s.next(b) > 0 {
			ends = append(ends, i+1)
		}
	}
	if len(ends) != 2 || ends[0] != 3 || ends[1] != 5 {
		t.Errorf("found at %v, want at 3 and 5", ends)
	}
}

func FuzzStopper(f *testing.F) {
	f.Add("a\n\nUser: b", "\n\nUser:", "\n\nUser", "\x00")
	f.Add("aabaabaaab", "aabaaa", "aab", "aaab")
	f.Add("\xe4\xbd\xa0\xff", "\xbd\xa0", "\xff", "x")
	f.Fuzz(func(t *testing.T, text, a, b, c string) {
		var stops []string
		for _, s := range []string{a, b, c} {
			if s != "" {
				stops = append(stops, s)
			}
		}
		if len(text) < 1000 {
			checkStopper(t, text, stops)
		}
	})
}
