package infer_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// moods are three states that have read different things.
func moods(t *testing.T, e *infer.Engine) []infer.Member {
	t.Helper()
	var members []infer.Member
	for i, name := range []string{"first", "second", "third"} {
		s := run(t, e, infer.Request{Tokens: numbers(40+i, 20), Logits: true}).Snapshot
		members = append(members, infer.Member{Name: name, Weight: float32(i+1) / 2, State: s.State})
	}
	return members
}

// mixedAlone generates n tokens from states by the definition: on a backend of
// its own, a token a step, logits combined in float64. weights are asked for
// before every draw.
func mixedAlone(t *testing.T, states [][]float32, prompt []int32, p sampler.Params, n int, weights func(drawn int) []float64) []int32 {
	t.Helper()
	m := scripted.Model()
	b := scripted.New(m, scripted.Options{Slots: len(states)})
	logits := make([][]float32, len(states))
	for k, state := range states {
		logits[k] = make([]float32, m.Shape.Vocab)
		var err error
		if state == nil {
			err = b.ZeroSlot(infer.Slot(k))
		} else {
			err = b.WriteSlot(infer.Slot(k), state)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := sampler.New(m.Tokenizer.Size(), p)
	var out []int32
	for next := prompt; len(out) < n; next = out[len(out)-1:] {
		for _, id := range next {
			for k := range states {
				row := infer.Row{Slot: infer.Slot(k), Tokens: []int32{id}, Logits: logits[k]}
				if err := b.Step([]infer.Row{row}, make([]infer.Drawn, 1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		w, sum := weights(len(out)), 0.0
		for _, g := range w {
			sum += g
		}
		mixed := make([]float32, m.Shape.Vocab)
		for i := range mixed {
			z := 0.0
			for k := range states {
				z += w[k] / sum * float64(logits[k][i])
			}
			mixed[i] = float32(z)
		}
		id, _ := s.Sample(mixed)
		s.Observe(id)
		out = append(out, id)
	}
	return out
}

func fixed(w ...float64) func(int) []float64 { return func(int) []float64 { return w } }

func TestMixIsItsDefinition(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	members, prompt := moods(t, e), numbers(7, 33)
	states := [][]float32{nil, members[0].State, members[1].State, members[2].State}
	for _, w := range [][]float64{{1, 0.5, 1, 1.5}, {0, 0, 1, 0}, {1, -0.4, 0.7, 0}, {1, 0, 0, 0}} {
		for i := range members {
			members[i].Weight = float32(w[i+1])
		}
		p := lively(3)
		s := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60, Members: members, Weight: float32(w[0])})
		end := finish(t, s)
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		if want := mixedAlone(t, states, prompt, p, 60, fixed(w...)); !slices.Equal(end.Tokens, want) {
			t.Errorf("weights %v: tokens %v, want %v", w, end.Tokens, want)
		}
		_, tokens := s.Read()
		if len(tokens) != 60 || len(tokens[9].MemberLogprobs) != 4 || !(tokens[9].MemberLogprobs[1] < 0) {
			t.Fatalf("weights %v: the tenth token is %+v", w, tokens[9])
		}
		if only := slices.Index(w, 1); only >= 0 && len(w)-1 == countZeros(w) && math.Abs(float64(tokens[9].MemberLogprobs[only]-tokens[9].LogProb)) > 1e-4 {
			t.Errorf("weights %v: %v by the one state that counts, %v by the mix", w, tokens[9].MemberLogprobs[only], tokens[9].LogProb)
		}
	}
	idle(t, e)
}

func countZeros(w []float64) int {
	n := 0
	for _, x := range w {
		if x == 0 {
			n++
		}
	}
	return n
}

func TestMixGoesOnAsIfNeverStopped(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	members, prompt, p := moods(t, e), numbers(7, 33), lively(8)
	want := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 80, Members: members, Weight: 1})
	end := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 13, Members: members, Weight: 1})
	got := end.Tokens
	for len(got) < 80 {
		from := stored(t, end.Snapshot)
		if !reflect.DeepEqual(from.Members, end.Snapshot.Members) || from.Weight != 1 {
			t.Fatal("the binary form lost something of the mix")
		}
		end = run(t, e, infer.Request{From: from, Sampling: p, MaxTokens: min(17, 80-len(got))})
		got = append(got, end.Tokens...)
	}
	if !slices.Equal(got, want.Tokens) {
		t.Errorf("tokens %v, want %v", got, want.Tokens)
	}
	if !reflect.DeepEqual(end.Snapshot.Members, want.Snapshot.Members) {
		t.Error("the states at the end are others")
	}
	single := run(t, e, infer.Request{From: end.Snapshot, Tokens: numbers(1, 5), Sampling: p, MaxTokens: 4, Members: []infer.Member{}, Weight: 1})
	if len(single.Snapshot.Members) != 0 {
		t.Error("a request without further states went on with them")
	}
}

func TestMixStops(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	members, prompt, p := moods(t, e), numbers(7, 33), lively(8)
	free := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60, Members: members, Weight: 1})
	text := string(e.Model().Tokenizer.Decode(nil, free.Tokens[30:33]))
	end := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60, Members: members, Weight: 1, Stops: []string{text}})
	if end.Reason != infer.ReasonStop || len(end.Tokens) > 33 {
		t.Fatalf("ended with %v after %d tokens", end.Reason, len(end.Tokens))
	}
	whole := slices.Concat(prompt, end.Tokens)
	want := run(t, e, infer.Request{Tokens: whole, Logits: true, Members: members, Weight: 1}).Snapshot
	got := run(t, e, infer.Request{From: end.Snapshot, Logits: true}).Snapshot
	if !slices.Equal(got.State, want.State) || !reflect.DeepEqual(got.Members, want.Members) {
		t.Error("the states are not those before the stop")
	}
}

func TestWeightsMoveBetweenTokens(t *testing.T) {
	var running atomic.Pointer[infer.Stream]
	var held atomic.Bool
	steps := 0
	after := []float32{0.2, 2, 0, 1}
	e := start(t, scripted.Options{Before: func([]infer.Row) error {
		for held.Load() {
			time.Sleep(time.Millisecond)
		}
		s := running.Load()
		if s == nil {
			return nil
		}
		if steps++; steps == 25 {
			s.SetWeights([]float32{1, -1, 0, 0}) // adds up to nothing: refused
			s.SetWeights([]float32{1, 1})        // of another mix: refused
			s.SetWeights(after)
		}
		return nil
	}}, infer.Options{})
	members, prompt, p := moods(t, e), numbers(7, 10), lively(5)
	held.Store(true)
	s := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 60, Members: members, Weight: 1})
	running.Store(s)
	held.Store(false)
	end := finish(t, s)
	states := [][]float32{nil, members[0].State, members[1].State, members[2].State}
	before := []float64{1, 0.5, 1, 1.5}
	for change := range 60 { // the step in which they were moved depends on how the prompt was cut
		want := mixedAlone(t, states, prompt, p, 60, func(drawn int) []float64 {
			if drawn < change {
				return before
			}
			return []float64{float64(after[0]), float64(after[1]), float64(after[2]), float64(after[3])}
		})
		if slices.Equal(end.Tokens, want) {
			if change < 15 || change > 30 {
				t.Errorf("the weights counted from token %d on", change)
			}
			return
		}
	}
	t.Error("the answer is not one whose weights changed between two tokens")
}

func TestMixRefusals(t *testing.T) {
	e := start(t, scripted.Options{Slots: 3}, infer.Options{})
	member := func(w float32) []infer.Member { return []infer.Member{{Name: "a", Weight: w}} }
	for _, c := range []struct {
		name    string
		weight  float32
		members []infer.Member
		want    string
	}{
		{"weights that add up to nothing", 1, member(-1), "add up to"},
		{"a weight that is no number", 1, member(float32(math.NaN())), "weight 2"},
		{"a state of another model", 1, []infer.Member{{Name: "big", Weight: 1, State: make([]float32, 3)}}, `state "big"`},
	} {
		_, err := e.Submit(infer.Request{Tokens: []int32{1}, Members: c.members, Weight: c.weight})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := submit(t, e, infer.Request{Tokens: []int32{1}, Members: []infer.Member{{Weight: 1}, {Weight: 1}, {Weight: 1}}, Weight: 1})
	<-s.Done()
	if end := s.Ending(); end.Err == nil || !strings.Contains(end.Err.Error(), "4 states needs as many slots") {
		t.Errorf("more states than slots: %v", end.Err)
	}
	// Mixes that fit one after the other only, and a plain request between them.
	var streams []*infer.Stream
	for i := range 5 {
		r := infer.Request{Tokens: numbers(i, 20), Sampling: lively(uint64(i)), MaxTokens: 15}
		if i != 2 {
			r.Members, r.Weight = member(1), 1
		}
		streams = append(streams, submit(t, e, r))
	}
	streams[1].Cancel()
	for i, s := range streams {
		if end := finish(t, s); end.Err != nil || i != 1 && len(end.Tokens) != 15 {
			t.Errorf("request %d ended with %v after %d tokens: %v", i, end.Reason, len(end.Tokens), end.Err)
		}
	}
	idle(t, e)
}
