package demo_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/sampler"
	"rookery/infer/statefile"
)

// stories is how many are counted at each place of a weight, with the same
// prompt and the same seeds at all of them, all rows of the same steps.
const stories = 64

// What has to be shown, in standard errors of paired differences: no step of
// the weight falls by more than noise does in 95 of 100 cases, and from one end
// to the other there is no doubt.
const (
	fallen = -1.645
	beyond = 5.0
)

// storyEngine is an engine for the embedded model and its states.
func storyEngine(t *testing.T) (*infer.Engine, []*statefile.State) {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Slots: 2*stories + 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(m, b, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	states, err := demo.States()
	if err != nil {
		t.Fatal(err)
	}
	return e, states
}

// tell lets an engine tell n stories, each with a seed of its own.
func tell(t *testing.T, e *infer.Engine, r infer.Request, n, tokens int) []infer.Ending {
	t.Helper()
	r.Tokens = e.Model().Tokenizer.Encode(nil, "User: Tell me a story.\n\nAssistant:")
	r.MaxTokens, r.Stops = tokens, []string{"\n\n"}
	var streams []*infer.Stream
	for i := range n {
		r.Sampling = sampler.Params{Temperature: 0.8, TopP: 0.9, Seed: uint64(1000 + i)}
		s, err := e.Submit(r)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	var ends []infer.Ending
	for _, s := range streams {
		<-s.Done()
		end := s.Ending()
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		ends = append(ends, end)
	}
	return ends
}

// faded is a mix of the conversation's own state and a state with the weight at w.
func faded(s *statefile.State, w float32) infer.Request {
	return infer.Request{Members: []infer.Member{{Name: s.Name, Weight: w, State: s.Snapshot.State}}, Weight: 1 - w}
}

func texts(ends []infer.Ending) []string {
	var list []string
	for _, end := range ends {
		list = append(list, end.Text)
	}
	return list
}

// With the weight at 0 a mix tells what the model tells without one, and at 1
// what it tells from the state, token for token.
func TestEndsOfAFaderAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: tells dozens of stories")
	}
	e, states := storyEngine(t)
	const n, tokens = 8, 80
	check := func(name string, got, want []infer.Ending) {
		for i := range want {
			if !slices.Equal(got[i].Tokens, want[i].Tokens) {
				t.Errorf("%s, story %d:\n%q\nwant\n%q", name, i, got[i].Text, want[i].Text)
			}
		}
	}
	bare := tell(t, e, infer.Request{}, n, tokens)
	for _, s := range states {
		check(s.Name+" at 0", tell(t, e, faded(s, 0), n, tokens), bare)
		from, err := s.Begin(e.Model())
		if err != nil {
			t.Fatal(err)
		}
		tuned := tell(t, e, infer.Request{From: from}, n, tokens)
		check(s.Name+" at 1", tell(t, e, faded(s, 1), n, tokens), tuned)
		if slices.Equal(texts(tuned), texts(bare)) {
			t.Errorf("%s changes nothing", s.Name)
		}
	}
}

// A weight that moves from the conversation's own state to a state moves the counted style from
// the base's to the state's, and no step of it takes some back. What it gains
// may come early: a step within noise is called saturated. ROOKERY_STYLES=full
// tells whole stories at five places of the weights of all three states;
// docs/mix.md has what it printed.
func TestWeightsMoveTheStyle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: tells hundreds of stories")
	}
	places, tokens := map[string][]float32{"demo-animals": {0, 0.5, 1}, "demo-dialogue": {0, 1}}, 80
	if os.Getenv("ROOKERY_STYLES") == "full" {
		tokens = 400
		for name := range styles {
			places[name] = []float32{0, 0.25, 0.5, 0.75, 1}
		}
	}
	e, states := storyEngine(t)
	var bare []infer.Ending // at 0 a state has no say: the stories are the same beside any
	for _, s := range states {
		var counted [][]tally
		for _, w := range places[s.Name] {
			told := bare
			if w > 0 || bare == nil {
				told = tell(t, e, faded(s, w), stories, tokens)
			}
			if w == 0 {
				bare = told
			}
			counted = append(counted, tallies(texts(told), styles[s.Name]))
		}
		if len(counted) > 0 {
			checkWeight(t, s.Name, places[s.Name], counted)
		}
	}
}

// checkWeight says what a weight did, and what it should have done otherwise.
func checkWeight(t *testing.T, name string, places []float32, counted [][]tally) {
	t.Helper()
	t.Logf("%s at %.2f: %.2f of 100 words", name, places[0], share(counted[0]))
	for i := 1; i < len(counted); i++ {
		step := shifted(counted[i-1], counted[i])
		note := ""
		if step.errors() < -fallen {
			note = ", saturated"
		}
		t.Logf("%s at %.2f: %.2f of 100 words, %+.2f ± %.2f%s", name, places[i], share(counted[i]), step.by, step.err, note)
		if step.errors() < fallen {
			t.Errorf("%s: the weight from %v to %v takes %.2f ± %.2f of 100 words back", name, places[i-1], places[i], -step.by, step.err)
		}
	}
	all := shifted(counted[0], counted[len(counted)-1])
	said := fmt.Sprintf("%s, from end to end: %+.2f ± %.2f of 100 words, %.1f standard errors", name, all.by, all.err, all.errors())
	if t.Log(said); all.errors() < beyond {
		t.Errorf("%s: it should be %.0f", said, beyond)
	}
}
