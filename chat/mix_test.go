package chat_test

import (
	"math"
	"slices"
	"testing"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
)

// mixing bakes two states into the library of a room.
func mixing(t *testing.T, r *room) (a, b turn.State) {
	t.Helper()
	for name, text := range map[string]string{"alpha": "There was a rook.", "beta": "It rained all day, and longer."} {
		_, err := r.workspace.Library().Bake(t.Context(), r.engine, library.Recipe{Name: name, Text: text}, nil)
		must(t, err)
	}
	return libraryState(t, r, "alpha"), libraryState(t, r, "beta")
}

func libraryState(t *testing.T, r *room, name string) turn.State {
	t.Helper()
	s, err := r.workspace.Library().Find(t.Context(), name)
	must(t, err)
	s, err = r.workspace.Library().Get(t.Context(), s.ID)
	must(t, err)
	return s
}

// pending is the token of an answer that ended by its length that no state has
// read yet.
const pending = 1

// mixOf is a mix of the conversation's own state and others.
func mixOf(own float32, states ...any) turn.Mix {
	m := turn.Mix{Own: turn.MixMember{Weight: own}}
	for i := 0; i < len(states); i += 2 {
		s := states[i].(turn.State)
		m.Others = append(m.Others, turn.MixMember{State: s.ID, Name: s.Name, Weight: float32(states[i+1].(float64))})
	}
	return m
}

// checkMix says that the snapshot of every turn of the line holds the states
// after exactly the line's tokens, each from its own beginning.
func (r *room) checkMix(v chat.View, states ...turn.State) {
	r.t.Helper()
	r.checkStates(v, len(v.Turns))
	var line []int32
	for i, tn := range v.Turns {
		line = append(line, tn.Tokens...)
		s, err := r.store.Snapshot(r.t.Context(), tn.ID)
		must(r.t, err)
		if len(s.Members) != len(states) {
			r.t.Errorf("the snapshot of turn %d has %d states besides, want %d", i, len(s.Members), len(states))
			continue
		}
		for k, st := range states {
			if !slices.Equal(r.state(&infer.Snapshot{
				Model: s.Model, Tokenizer: s.Tokenizer, State: s.Members[k].State, Logits: s.Members[k].Logits, Pending: s.Pending,
			}, nil), r.state(st.Snapshot, line)) {
				r.t.Errorf("state %s after turn %d is not what it is after the line", st.Name, i)
			}
		}
	}
}

// A mix outlives the program, and every turn reads its own tokens alone.
func TestMixOverRestarts(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			var id turn.ID
			var mix turn.Mix
			var a, b turn.State
			r := newRoom(t, setup{babble: true, store: store(), defaults: answersOf(9)})
			a, b = mixing(t, r)
			mix = mixOf(1, a, 0.5, b, -0.25)
			d := r.workspace.New()
			id = d.ID()
			must(t, d.SetMix(mix))
			ask(t, d, "anything")
			fed := r.fed()
			v := ask(t, d, "more")
			if n := r.fed() - fed; n != 3*(pending+len(v.Turns[2].Tokens)) {
				t.Errorf("the second turn read %d tokens with three states, it has %d", n, len(v.Turns[2].Tokens))
			}
			r.checkMix(v, a, b)
			r.close()

			r = newRoom(t, setup{babble: true, store: store(), defaults: answersOf(9)})
			d = r.workspace.Open(id)
			v = settled(t, d)
			if v.Conversation.Mix.String() != mix.String() || v.Turns[3].Mix.String() != mix.String() || v.Rereads() != 0 {
				t.Errorf("after a restart the mix is %q, the turn's %q, and %d tokens are to be read again", v.Conversation.Mix, v.Turns[3].Mix, v.Rereads())
			}
			v = ask(t, d, "again")
			if n := r.fed(); n != 3*(pending+len(v.Turns[4].Tokens)) {
				t.Errorf("after a restart %d tokens were read with three states, the prompt has %d", n, len(v.Turns[4].Tokens))
			}
			r.checkMix(v, a, b)
			r.close()
		})
	}
}

// Other weights read nothing again, other states everything, and without
// states the conversation's own goes on alone.
func TestMixChanges(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	a, b := mixing(t, r)
	d := r.workspace.New()
	line := func(v chat.View, to int) (n int) {
		for _, tn := range v.Turns[:to] {
			n += len(tn.Tokens)
		}
		return n
	}
	next := func(m turn.Mix, again int) {
		t.Helper()
		must(t, d.SetMix(m))
		before := d.View()
		if before.Rereads() != again {
			t.Errorf("%s: the view says that %d tokens are read again, want %d", m, before.Rereads(), again)
		}
		fed := r.fed()
		v := ask(t, d, "more")
		prompt, rows := len(v.Turns[len(v.Turns)-2].Tokens), 1+len(m.Others)
		if again != line(before, len(before.Turns)) {
			prompt += pending
		}
		if n := r.fed() - fed; n != rows*(again+prompt) {
			t.Errorf("%s: %d tokens were read in %d rows, want %d again and the prompt's %d", m, n, rows, again, prompt)
		}
		if last(v).Mix.String() != m.String() {
			t.Errorf("the answer's mix is %q, want %q", last(v).Mix, m)
		}
	}
	v := ask(t, d, "anything")
	next(mixOf(1, a, 0.5), line(v, 2))
	next(mixOf(0.25, a, 0.75), 0)
	v = settled(t, d)
	with := len(v.Turns)
	next(mixOf(1, a, 0.5, b, 0.5), line(v, with))
	next(turn.Mix{}, 0)
	v = settled(t, d)
	r.checkStates(v, len(v.Turns))
	muted := mixOf(1, a, 0.5) // its states went as far as its last answer
	muted.Others[0].Mute = true
	next(muted, line(v, len(v.Turns))-line(v, with))

	for _, wrong := range []turn.Mix{mixOf(1, a, -1.0), mixOf(0, a, 0.0), mixOf(1, a, 0.5, a, 0.5)} {
		if err := d.SetMix(wrong); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// A retry with other weights is a version with its own mix; both stay what
// they were, and the prompt is not read again.
func TestRetryWithOtherWeights(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{babble: true, store: store, defaults: answersOf(12)})
	a, _ := mixing(t, r)
	d := r.workspace.New()
	first, second := mixOf(1, a, 0.5), mixOf(0, a, 2.0)
	must(t, d.SetMix(first))
	v := ask(t, d, "anything")
	ask(t, d, "and then")
	must(t, d.SetHead(v.Turns[1].ID)) // back to the first answer
	must(t, d.SetMix(second))
	fed := r.fed()
	must(t, d.Retry())
	v = settled(t, d)
	if n := r.fed() - fed; n != 0 {
		t.Errorf("a retry with other weights read %d tokens", n)
	}
	if len(v.Turns) != 2 || v.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) || last(v).Mix.String() != second.String() {
		t.Fatalf("%d turns, %+v, mix %q", len(v.Turns), v.Siblings[1], last(v).Mix)
	}
	r.checkMix(v, a)
	want := last(v).Text
	must(t, d.SwitchSibling(last(v).ID, -1))
	if v = settled(t, d); v.Turns[1].Mix.String() != first.String() || v.Turns[1].Text == want {
		t.Errorf("the first answer has the mix %q", v.Turns[1].Mix)
	}
	r.close()
	r = newRoom(t, setup{babble: true, store: store, defaults: answersOf(12)})
	d = r.workspace.Open(d.ID())
	if v = settled(t, d); v.Turns[1].Mix.String() != first.String() {
		t.Errorf("after a restart it is %q", v.Turns[1].Mix)
	}
	must(t, d.SwitchSibling(v.Turns[1].ID, 1))
	if v = settled(t, d); v.Turns[1].Mix.String() != second.String() || v.Turns[1].Text != want {
		t.Errorf("after a restart the retry is %q of %q", v.Turns[1].Text, v.Turns[1].Mix)
	}
}

// The alternatives of a token show what the token was drawn from: all states with their
// weights.
func TestTokenAlternativesOfAMix(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(12)})
	a, b := mixing(t, r)
	d := r.workspace.New()
	must(t, d.SetMix(mixOf(0.5, a, 1.0, b, -0.2)))
	v := ask(t, d, "anything")
	tn := last(v)
	drawn := d.Drawn(tn.ID)
	if len(drawn) != len(tn.Tokens) {
		t.Fatalf("%d tokens are known as drawn, of %d", len(drawn), len(tn.Tokens))
	}
	must(t, d.SetMix(turn.Mix{})) // what the conversation has now is of no matter
	for i, token := range drawn {
		if len(token.MemberLogprobs) != 3 {
			t.Fatalf("token %d has the figures of %d states", i, len(token.MemberLogprobs))
		}
		list, err := d.Candidates(t.Context(), tn.ID, i, 5)
		must(t, err)
		at := slices.IndexFunc(list, func(c chat.Candidate) bool { return c.Taken })
		if at < 0 || list[at].Token != token.ID || math.Abs(math.Log(list[at].Model)-float64(token.LogProb)) > 1e-3 {
			t.Errorf("token %d: %+v, drawn with log-probability %v", i, list, token.LogProb)
		}
	}
}

func TestForksKeepTheMix(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	a, b := mixing(t, r)
	d := r.workspace.New()
	mix := mixOf(1, a, 0.5, b, 0.5)
	must(t, d.SetMix(mix))
	v := ask(t, d, "anything")
	forks, err := r.workspace.Fork(d, last(v).ID, 2)
	must(t, err)
	must(t, d.SetMix(turn.Mix{}))
	for _, f := range forks {
		settled(t, f)
		fed := r.fed()
		v := ask(t, f, "more")
		if n := r.fed() - fed; n != 3*(pending+len(v.Turns[2].Tokens)) {
			t.Errorf("a fork read %d tokens with three states, its prompt has %d", n, len(v.Turns[2].Tokens))
		}
		if v.Conversation.Mix.String() != mix.String() || last(v).Mix.String() != mix.String() {
			t.Errorf("a fork has the mix %q", v.Conversation.Mix)
		}
		r.checkMix(v, a, b)
	}
}

// An answer of a mix that was stopped and goes on is the one that never was.
func TestMixStopAndContinue(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(40)})
	a, b := mixing(t, r)
	mix := mixOf(1, a, 0.5, b, 0.7)
	d := r.workspace.New()
	must(t, d.SetMix(mix))
	want := last(ask(t, d, "anything"))

	r.gate.shut()
	d = r.workspace.New()
	must(t, d.SetMix(mix))
	must(t, d.Send("anything"))
	until(t, d, "text", func(v chat.View) bool {
		r.gate.trickle()
		return v.Live != nil && len(v.Live.Drawn) > 10
	})
	d.Stop()
	r.gate.open()
	v := settled(t, d)
	if n := len(last(v).Tokens); n == 0 || n >= 40 {
		t.Fatalf("stopped after %d tokens", n)
	}
	must(t, d.Continue())
	v = settled(t, d)
	if got := last(v).Tokens[:40]; !slices.Equal(got, want.Tokens) {
		t.Errorf("stopped and continued %q, want %q", last(v).Text, want.Text)
	}
	r.checkMix(v, a, b)
}

// Weights move while the answer runs; states that come or go wait for the next.
func TestMixOfARunningAnswer(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(30)})
	a, b := mixing(t, r)
	r.gate.shut()
	d := r.workspace.New()
	must(t, d.SetMix(mixOf(1, a, 0.5)))
	must(t, d.Send("anything"))
	some := func(n int) {
		until(t, d, "tokens", func(v chat.View) bool {
			r.gate.trickle()
			return v.Live != nil && len(v.Live.Drawn) > n
		})
	}
	some(3)
	must(t, d.SetMix(mixOf(0, a, 1.0)))
	some(12)
	must(t, d.SetMix(mixOf(0, a, 1.0, b, 1.0)))
	r.gate.open()
	v := settled(t, d)
	if got := last(v).Mix.String(); got != mixOf(0, a, 1.0).String() {
		t.Errorf("the answer's mix is %q", got)
	}
	drawn := d.Drawn(last(v).ID)
	for i, token := range drawn[len(drawn)-8:] {
		if len(token.MemberLogprobs) != 2 || math.Abs(float64(token.MemberLogprobs[1]-token.LogProb)) > 1e-4 {
			t.Errorf("token %d before the end is not the state's alone: %+v", 8-i, token)
		}
	}
	must(t, d.SetMix(mixOf(0, a, 1.0)))
	r.checkMix(v, a)
}

// Conversations with the same text use each other's states only if they are
// made alike.
func TestMixesDoNotShareLines(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	a, b := mixing(t, r)
	alone := r.workspace.New()
	want := ask(t, alone, "anything")
	for _, c := range []struct {
		mix    turn.Mix
		states []turn.State
	}{
		{mixOf(1, a, 1.0), []turn.State{a}},
		{mixOf(1, b, 1.0), []turn.State{b}},
		{mixOf(1, a, 1.0, b, 1.0), []turn.State{a, b}},
		{mixOf(1, b, 1.0, a, 1.0), []turn.State{b, a}},
	} {
		d := r.workspace.New()
		must(t, d.SetMix(c.mix))
		r.checkMix(ask(t, d, "anything"), c.states...)
		if d.View().Err != nil {
			t.Error(d.View().Err)
		}
	}
	d := r.workspace.New()
	v := ask(t, d, "anything")
	if !slices.Equal(last(v).Tokens, last(want).Tokens) {
		t.Errorf("without a mix %q became %q", last(want).Text, last(v).Text)
	}
	r.checkMix(v)
}
