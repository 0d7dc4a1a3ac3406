package infer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rookery/infer"
	"rookery/infer/scripted"
)

var filler = strings.Repeat("lorem ipsum the and ", 20)

// Slots decide how an answer gets back to where a stop began: from a copy of
// the state, or, when all slots are taken, by reading from the prompt snapshot.
var poolSizes = []int{1, 4}

func TestStops(t *testing.T) {
	tests := []struct {
		name  string
		says  string
		stops []string
		want  string
	}{
		{"token 0", "hello", nil, "hello"},
		{"token 0 at once", "", nil, ""},
		{"one token", "hello\n\nUser: x", []string{"\n\nUser:"}, "hello"},
		{"at the beginning", "\n\nUser: x", []string{"\n\nUser:"}, ""},
		{"at the beginning, in two tokens", "\n\nUser: x", []string{"\n\nUser: "}, ""},
		{"four tokens", "hi!\nUser: x", []string{"\nUser: "}, "hi!"},
		{"begins inside a token", "hi。\n\nUser: x", []string{"\n\nUser:"}, "hi。"},
		{"begins and ends inside a token", "say abcd", []string{"b"}, "say a"},
		{"first token is cut", "abcd", []string{"c"}, "ab"},
		{"the shorter of two", "a\n\nUser: x", []string{"\n\nUser:", "\n\nUser"}, "a"},
		{"one inside another", "xabcdef", []string{"xabcdz", "bc"}, "xa"},
		{"one inside another, tokens later", "hello world", []string{"hello work", "wo"}, "hello "},
		{"a false start, then a stop", "a\nUs\nUser: b", []string{"\nUser:"}, "a\nUs"},
		{"overlaps itself", "xaaaaab", []string{"aab"}, "xaaa"},
		{"slides for long", strings.Repeat("a", 90) + "b", []string{"ab"}, strings.Repeat("a", 89)},
		{"slides far behind", "x" + strings.Repeat("q", 90) + "z", []string{"qqqqqqqz"}, "x" + strings.Repeat("q", 83)},
		{"held, then nothing", "a\n\nUs", []string{"\n\nUser:"}, "a\n\nUs"},
		{"held for an invalid byte", "a\xff\xfe b\xff!", []string{"\xff!"}, "a\uFFFD\uFFFD b"},
		{"inside a character", "你好", []string{"\xa5\xbd"}, "你"},
		{"a character in pieces", "x\xe4\xbd\xa0 y", []string{" y"}, "x你"},
		{"after much text", filler + "\n\nUser: x", []string{"\n\nUser: "}, filler},
		{"after much text, inside a token", filler + "!\nUser: x", []string{"\nUser: "}, filler + "!"},
	}
	for _, slots := range poolSizes {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, %d slots", tt.name, slots), func(t *testing.T) {
				e := start(t, scripted.Options{Slots: slots, Answers: []scripted.Answer{{Text: tt.says}}}, infer.Options{})
				prompt := encode(e, "User: go\n\nAssistant:")
				s := submit(t, e, infer.Request{Tokens: prompt, Stops: tt.stops, MaxTokens: 1000})
				end := finish(t, s)
				if end.Text != tt.want || end.Reason != infer.ReasonStop || end.Err != nil {
					t.Errorf("%q, ended with %v, %v; want %q", end.Text, end.Reason, end.Err, tt.want)
				}
				if text, _ := s.Read(); text != end.Text {
					t.Errorf("read %q, the ending has %q", text, end.Text)
				}
				said := string(e.Model().Tokenizer.Decode(nil, end.Tokens))
				if got := end.Text + string(end.Snapshot.Tail); string([]rune(got)) != string([]rune(said)) {
					t.Errorf("the tokens say %q, the text is %q", said, got)
				}
				checkSnapshot(t, e, prompt, end)
			})
		}
	}
}

// Without stops, an answer goes on where a stop ended it, as if there had been none.
func TestContinuePastAStop(t *testing.T) {
	for _, slots := range poolSizes {
		e := start(t, scripted.Options{Slots: slots}, infer.Options{})
		for seed := range 8 {
			prompt, p := numbers(seed, 20), lively(uint64(seed))
			never := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60})
			piece := func(from, to int) string {
				return string(e.Model().Tokenizer.Decode(nil, never.Tokens[from:to]))
			}
			// held back from the 18th token on, and stopped at the 20th
			stops := []string{piece(18, 22) + " never", piece(20, 23)}
			end := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60, Stops: stops})
			n := len(end.Tokens)
			if end.Reason != infer.ReasonStop || n > 20 || !slices.Equal(end.Tokens, never.Tokens[:n]) {
				continue // it ended inside a token; TestStopsAgainstDefinition has these
			}
			checkMemory(t, e, end.Snapshot, p, end.Tokens)
			rest := run(t, e, infer.Request{From: stored(t, end.Snapshot), Sampling: p, MaxTokens: 60 - n})
			if !slices.Equal(rest.Tokens, never.Tokens[n:]) {
				t.Errorf("%d slots, seed %d: went on with %v, want %v", slots, seed, rest.Tokens, never.Tokens[n:])
			}
		}
	}
}

// expectedStop is the answer by definition: the tokens and the text of what
// was said, up to the first stop.
func expectedStop(e *infer.Engine, said []int32, stops []string) (tokens []int32, text string, found bool) {
	vocabulary := e.Model().Tokenizer
	whole := string(vocabulary.Decode(nil, said))
	cut := -1
	for end := 1; end <= len(whole) && cut < 0; end++ {
		for _, s := range stops {
			if strings.HasSuffix(whole[:end], s) && (cut < 0 || end-len(s) < cut) {
				cut = end - len(s)
			}
		}
	}
	if cut < 0 {
		return said, whole, false
	}
	at := 0
	for _, id := range said {
		b := vocabulary.Bytes(id)
		if at+len(b) > cut {
			return vocabulary.Encode(tokens, string(b[:cut-at])), whole[:cut], true
		}
		at += len(b)
		tokens = append(tokens, id)
	}
	return tokens, whole[:cut], true
}

// Many answers at once, each with stops that are pieces of what it will say,
// on more and on fewer slots than there are answers.
func TestStopsAgainstDefinition(t *testing.T) {
	const length = 50
	r := rand.New(rand.NewPCG(7, 8))
	for _, slots := range []int{1, 3, 8, 32} {
		e := start(t, scripted.Options{Slots: slots}, infer.Options{})
		for range 2 {
			type answer struct {
				prompt []int32
				said   []int32
				stops  []string
				stream *infer.Stream
			}
			answers := make([]answer, 10)
			for i := range answers {
				a := &answers[i]
				seed := r.IntN(1000)
				a.prompt = numbers(seed, 1+r.IntN(40))
				a.said = alone(t, a.prompt, lively(uint64(seed)), length)
				whole := string(e.Model().Tokenizer.Decode(nil, a.said))
				for range 1 + r.IntN(3) {
					from := r.IntN(len(whole))
					piece := whole[from:min(len(whole), from+1+r.IntN(8))]
					a.stops = append(a.stops, piece, piece+"?", piece[:1]+"\x00"+piece)
				}
				a.stream = submit(t, e, infer.Request{Tokens: a.prompt, Sampling: lively(uint64(seed)), MaxTokens: length, Stops: a.stops})
			}
			for _, a := range answers {
				end := finish(t, a.stream)
				tokens, text, found := expectedStop(e, a.said, a.stops)
				if found != (end.Reason == infer.ReasonStop) || !slices.Equal(end.Tokens, tokens) {
					t.Fatalf("stops %q: %v with %v, want %v", a.stops, end.Reason, end.Tokens, tokens)
				}
				if got := end.Text + string(end.Snapshot.Tail); string([]rune(got)) != string([]rune(text)) {
					t.Errorf("stops %q: text %q, want %q", a.stops, got, text)
				}
				if !utf8.ValidString(end.Text) {
					t.Errorf("%q is not UTF-8", end.Text)
				}
				checkSnapshot(t, e, a.prompt, end)
			}
		}
	}
}

func TestHeldTextBelongsToAnEndWithoutStop(t *testing.T) {
	says := scripted.Answer{Text: "one\n\nUs and more"}
	stops := []string{"\n\nUser:"}
	t.Run("length", func(t *testing.T) {
		e := start(t, scripted.Options{Answers: []scripted.Answer{says}}, infer.Options{})
		prompt := encode(e, "Assistant:")
		end := run(t, e, infer.Request{Tokens: prompt, Stops: stops, MaxTokens: 5})
		if end.Reason != infer.ReasonLength || end.Text != "one\n\nU" {
			t.Errorf("%v after %q", end.Reason, end.Text)
		}
		checkSnapshot(t, e, prompt, end)
		rest := run(t, e, infer.Request{From: end.Snapshot, Stops: stops})
		if end.Text+rest.Text != says.Text {
			t.Errorf("went on to %q", end.Text+rest.Text)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		var c canceller
		e := start(t, scripted.Options{Answers: []scripted.Answer{says}, Before: c.before}, infer.Options{})
		end := finish(t, c.submit(t, e, infer.Request{Tokens: encode(e, "Assistant:"), Stops: stops}, 5))
		if end.Reason != infer.ReasonCancelled || end.Text != "one\n\nU" {
			t.Errorf("%v after %q", end.Reason, end.Text)
		}
	})
}

func TestHeldTextIsNotRead(t *testing.T) {
	step := make(chan struct{})
	e := start(t, scripted.Options{
		Answers: []scripted.Answer{{Text: "one\n\nUse it"}},
		Before:  func([]infer.Row) error { <-step; return nil },
	}, infer.Options{})
	s := submit(t, e, infer.Request{Tokens: encode(e, "Assistant:"), Stops: []string{"\n\nUser:"}})
	for range 7 { // o n e \n\n U s e
		pass(t, step)
	}
	read, drawn := "", 0
	reach(t, s, func() bool {
		text, tokens := s.Read()
		read, drawn = read+text, drawn+len(tokens)
		return drawn >= 7
	})
	if read != "one" {
		t.Errorf("read %q while the rest is held", read)
	}
	close(step)
	finish(t, s)
	if text, _ := s.Read(); read+text != "one\n\nUse it" {
		t.Errorf("read %q in the end", read+text)
	}
}

// A state kept for a stop gives its slot to a request that has none.
func TestWaitingRequestTakesAMarksSlot(t *testing.T) {
	var e *infer.Engine
	var second *infer.Stream
	steps := 0
	other := infer.Request{Tokens: numbers(3, 20), Sampling: lively(3), MaxTokens: 20}
	e = start(t, scripted.Options{
		Slots:   2,
		Answers: []scripted.Answer{{Text: filler + "one two three four"}},
		Before: func([]infer.Row) error {
			if steps++; steps == 200 { // the stop is held back by now
				var err error
				second, err = e.Submit(other)
				return err
			}
			return nil
		},
	}, infer.Options{})
	prompt := encode(e, "Assistant:")
	stop := filler[len(filler)/2:] + "one two three"
	end := run(t, e, infer.Request{Tokens: prompt, Stops: []string{stop}})
	if end.Text != filler[:len(filler)/2] || end.Reason != infer.ReasonStop {
		t.Errorf("%v after %q", end.Reason, end.Text)
	}
	if got, want := finish(t, second).Tokens, alone(t, other.Tokens, other.Sampling, 20); !slices.Equal(got, want) {
		t.Errorf("the other said %v, want %v", got, want)
	}
	checkSnapshot(t, e, prompt, end)
}

// A stop that began in what is replayed ends the answer at its own beginning.
func TestStopAcrossReplay(t *testing.T) {
	for _, slots := range poolSizes {
		e := start(t, scripted.Options{Slots: slots, Answers: []scripted.Answer{{Text: "one!\nUsers"}}}, infer.Options{})
		prompt := encode(e, "Assistant:")
		replay := encode(e, "one!\n")
		end := run(t, e, infer.Request{Tokens: prompt, Replay: replay, Stops: []string{"\nUsers"}})
		if end.Reason != infer.ReasonStop || end.Text != "" || len(end.Tokens) != 0 {
			t.Errorf("%d slots: ended with %v after %q", slots, end.Reason, end.Text)
		}
		checkSnapshot(t, e, slices.Concat(prompt, replay), end)
	}
}
