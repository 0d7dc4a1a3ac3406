package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/chattest"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/scripted"
)

// An inquest examines what a killed program left.
type inquest struct {
	t      *testing.T
	engine *infer.Engine
	ban    []int32 // what chat bans in every answer

	checked map[turn.ID]int // tokens of answers that were repeated
	during  map[string]int  // kills by phase

	idle, conversations, turns, states, repeated, recovered int
	lag, quietLag                                           time.Duration // of the journal; when the machine was quiet
	quiet                                                   int           // answers that ran on a quiet machine
	mixed, adapted, swapped, edited                         int           // of the answers whose lines were looked at
}

func newInquest(t *testing.T) *inquest {
	t.Helper()
	e := tortureEngine(0)
	t.Cleanup(func() { check(t, e.Close()) })
	for _, name := range scripted.Adapters {
		a, err := scripted.OpenAdapter(t.Context(), "", name, adapter.Options{})
		must(t, err)
		must(t, e.LoadAdapter(t.Context(), a, false))
	}
	asked, _, err := tortureDefaults(0).Request(e.Model(), prompt.QuestionOf("x"), nil)
	must(t, err)
	return &inquest{
		t: t, engine: e, ban: asked.Sampling.Ban,
		checked: map[turn.ID]int{}, during: map[string]int{},
	}
}

// examine holds a data directory against what was said of it.
func (r *inquest) examine(dir string, w *testimony) {
	t := r.t
	t.Helper()
	for name := range w.phases {
		r.during[name]++
	}
	if len(w.phases) == 0 {
		r.idle++
	}
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Errorf("opening after a kill: %v", err)
		return
	}
	problems, err := s.Check(t.Context())
	for end := time.Now().Add(tolerance); err == nil && filling(problems) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		problems, err = s.Check(t.Context())
	}
	if err != nil || len(problems) > 0 {
		t.Errorf("the check says %v, %v", problems, err)
	}
	stored, journals := map[turn.ID]turn.Turn{}, map[turn.ID]int{}
	list, err := s.Conversations(t.Context())
	must(t, err)
	there := map[turn.ID]bool{}
	for _, c := range list {
		there[c.ID] = true
		r.conversation(s, c.ID, w, stored, journals)
	}
	for id, turns := range w.coming {
		if _, all, err := s.Load(t.Context(), id); there[id] && (err != nil || len(all) < turns) {
			t.Errorf("%d turns of conversation %d came in a bundle, and %d are there (%v)", turns, id, len(all), err)
		} else if !there[id] && !w.gone[id] {
			t.Errorf("conversation %d came in a bundle, and is not there", id)
		}
	}
	for id, turns := range w.forked {
		if _, all, err := s.Load(t.Context(), id); there[id] && !w.gone[id] && (err != nil || len(all) < turns) {
			t.Errorf("conversation %d is a fork of %d turns, and %d are there (%v)", id, turns, len(all), err)
		}
	}
	r.library(s, w)
	r.nothingLost(w, there, stored)
	r.journals(stored, journals, w)
	r.goOn(s, list, w)
}

// library checks that the states that were baked are there, and are those of
// their tokens.
func (r *inquest) library(s *Store, w *testimony) {
	for id, want := range w.baked {
		st, err := s.State(r.t.Context(), id)
		var none *turn.NoStateError
		if errors.As(err, &none) && !want {
			delete(w.baked, id)
			continue
		}
		if err != nil {
			r.t.Errorf("state %d of the library: %v", id, err)
			continue
		}
		if got, want := r.state(infer.Request{From: st.Snapshot}, nil, nil), r.state(infer.Request{}, st.Tokens, make([]string, len(st.Tokens))); !slices.Equal(got, want) {
			r.t.Errorf("state %d of the library is not that of its tokens", id)
		}
		r.states++
	}
}

// filling says that nothing is wrong but that the index lacks entries, which
// are being made in the background after an update.
func filling(problems []Problem) bool {
	return len(problems) > 0 && !slices.ContainsFunc(problems, func(p Problem) bool {
		return p.Lost || !strings.HasPrefix(p.What, "the search index is not in step")
	})
}

// conversation checks one as it was left: its line, its tokens, its journal.
func (r *inquest) conversation(s *Store, id turn.ID, w *testimony, stored map[turn.ID]turn.Turn, journals map[turn.ID]int) {
	t := r.t
	c, turns, err := s.Load(t.Context(), id)
	unfinished, jerr := s.Journals(t.Context(), id)
	if err != nil || jerr != nil {
		t.Errorf("loading conversation %d: %v, %v", id, err, jerr)
		return
	}
	r.conversations++
	r.turns += len(turns)
	for _, tn := range turns {
		stored[tn.ID] = tn
		if len(tn.Tokens) == 0 && tn.Text != "" {
			t.Errorf("turn %d (%q) has no tokens", tn.ID, tn.Text)
		}
	}
	line := chat.Line(turns, c.Tip)
	if len(turns) > 0 && (len(line) == 0 || c.Head != 0 && !slices.ContainsFunc(line, func(t turn.Turn) bool { return t.ID == c.Head })) {
		t.Errorf("conversation %d: head %d, tip %d, %d turns on the line of %d", id, c.Head, c.Tip, len(line), len(turns))
	}
	if said, ok := w.heads[id]; ok && said != headedBy(c) && !w.gone[id] {
		t.Errorf("conversation %d: %+v was saved, and %+v is there", id, said, headedBy(c))
	}
	for _, j := range unfinished {
		journals[j.Turn.ID] = len(j.Text)
		r.recovered++
	}
}

// journals checks that what was seen of a running answer some time before the
// kill is there, in its journal or as a turn.
func (r *inquest) journals(stored map[turn.ID]turn.Turn, journals map[turn.ID]int, w *testimony) {
	for id, sights := range w.live {
		if w.gone[sights[0].conversation] || w.may[id] {
			continue
		}
		quiet := sights[len(sights)-1].late < quietLate && w.killed.Sub(sights[len(sights)-1].at) < quietLate
		limit := journalLag
		if quiet {
			r.quiet++
		} else {
			limit += busyLag + lateTurns*sights[len(sights)-1].late
		}
		have := max(journals[id], len(stored[id].Text))
		for _, s := range sights {
			if s.bytes <= have {
				continue
			}
			lag := w.killed.Sub(s.at)
			r.lag = max(r.lag, lag)
			if quiet {
				r.quietLag = max(r.quietLag, lag)
			}
			if lag > limit {
				r.t.Errorf("answer %d had %d bytes %v before the kill, and %d are kept; the watch was %v late", id, s.bytes, lag, have, sights[len(sights)-1].late)
			}
			break
		}
	}
}

// nothingLost checks that every turn that was said to be saved is there.
func (r *inquest) nothingLost(w *testimony, there map[turn.ID]bool, stored map[turn.ID]turn.Turn) {
	for id, said := range w.turns {
		if !there[said.conversation] && w.gone[said.conversation] {
			delete(w.turns, id)
			continue
		}
		tn, ok := stored[id]
		if !ok && w.may[id] {
			delete(w.turns, id)
			continue
		}
		if !ok || len(tn.Text) < said.bytes || sumOf(tn.Text[:said.bytes]) != said.sum {
			r.t.Errorf("turn %d of conversation %d was saved with %d bytes, and has %d: %q", id, said.conversation, said.bytes, len(tn.Text), tn.Text)
		}
	}
}

// goOn opens everything as the program does, and holds it against the model.
func (r *inquest) goOn(s *Store, list []turn.Conversation, w *testimony) {
	t := r.t
	workspace := tortureDesk(r.engine, s, 0)
	for _, c := range list {
		d := workspace.Open(c.ID)
		v := d.View()
		for end := time.Now().Add(tolerance); v.Loading || !v.Saved; v = d.View() {
			if time.Now().After(end) {
				t.Fatalf("conversation %d is not ready: loading %v, saved %v, error %v", c.ID, v.Loading, v.Saved, v.Err)
			}
			time.Sleep(time.Millisecond)
		}
		if v.Err != nil {
			t.Errorf("conversation %d: %v", c.ID, v.Err)
		}
		r.line(s, v)
		w.heads[c.ID] = headedBy(v.Conversation)
		workspace.CloseDialogue(d)
	}
	ctx, cancel := context.WithTimeout(context.Background(), tolerance)
	defer cancel()
	if err := workspace.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// line checks that states are those after the tokens of their line, read with
// the adapters that it says, and that answers are what an uninterrupted run
// would have given.
func (r *inquest) line(s *Store, v chat.View) {
	base, ok := r.begins(s, v.Conversation)
	if !ok {
		return
	}
	line := slices.Concat(v.Turns, v.Ahead)
	for i, tn := range line {
		tokens, by := chattest.Readers(line[:i+1])
		if r.checked[tn.ID] == len(tokens) {
			continue
		}
		r.checked[tn.ID] = len(tokens)
		snap, err := s.Snapshot(r.t.Context(), tn.ID)
		must(r.t, err)
		if snap != nil {
			r.states++
			if n := tn.History.Len() + len(snap.Pending); n != len(tokens) {
				r.t.Errorf("the history of turn %d and what its state leaves have %d of %d tokens: %s", tn.ID, n, len(tokens), histories(line[:i+1]))
			}
			if got, want := r.state(infer.Request{From: snap}, nil, nil), r.state(base, tokens, by); !slices.Equal(got, want) {
				r.t.Errorf("the state of turn %d (%q) is not that of its tokens, read with %v: %s", tn.ID, tn.Text, slices.Compact(by), histories(line[:i+1]))
			}
		}
		r.count(tn, by)
		if tn.Role == turn.RoleAssistant && !tn.Edited {
			r.repeat(base, line[:i+1])
		}
	}
}

// histories say what a line has read, for people.
func histories(line []turn.Turn) string {
	var b strings.Builder
	for _, t := range line {
		fmt.Fprintf(&b, "\n\t%v %d of %d tokens, adapter %q, edited %v, read %+v", t.Role, t.ID, len(t.Tokens), t.AdapterID, t.Edited, t.History)
	}
	return b.String()
}

// count counts what is special about an answer.
func (r *inquest) count(t turn.Turn, by []string) {
	if t.Mix.Active() {
		r.mixed++
	}
	if t.Edited {
		r.edited++
	}
	if slices.ContainsFunc(by, func(adapter string) bool { return adapter != "" }) {
		r.adapted++
	}
	if t.Role == turn.RoleAssistant && len(t.History.Runs) > 1 {
		r.swapped++
	}
}

// state is all states after tokens, each read with its adapter, and what a
// snapshot leaves pending. The states of a mix come one after the other.
func (r *inquest) state(from infer.Request, tokens []int32, by []string) []float32 {
	s, err := chattest.Read(r.engine, from, tokens, by)
	must(r.t, err)
	return chattest.State(s)
}

// repeat generates the last answer of a line at one go.
func (r *inquest) repeat(request infer.Request, line []turn.Turn) {
	r.repeated++
	tn := line[len(line)-1]
	request.Sampling, request.Stops = tn.Sampling, tortureDefaults(0).Stops
	request.Sampling.Ban = slices.Concat(tn.Sampling.Ban, r.ban)
	got, err := chattest.Answer(r.engine, request, line)
	must(r.t, err)
	if !slices.Equal(got, tn.Tokens) && !r.sameUpToTheStop(request, line) {
		r.t.Errorf("answer %d (%v, open %v, seed %d, mix %q) has the tokens %v, and at one go %v: %s",
			tn.ID, tn.Reason, tn.Open, tn.Sampling.Seed, tn.Mix, tn.Tokens, got, histories(line))
	}
}

// sameUpToTheStop says that an answer is right but for its stop: where the adapter
// was changed within the tokens of that, nothing is left to say so.
func (r *inquest) sameUpToTheStop(request infer.Request, line []turn.Turn) bool {
	line = slices.Clone(line)
	tn := &line[len(line)-1]
	if tn.Reason != infer.ReasonStop {
		return false
	}
	tn.Reason, request.Stops = infer.ReasonLength, nil
	got, err := chattest.Answer(r.engine, request, line)
	must(r.t, err)
	text := r.engine.Model().Tokenizer.Decode
	return bytes.HasPrefix(text(nil, got), text(nil, tn.Tokens))
}
