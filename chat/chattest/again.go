package chattest

import (
	"errors"
	"slices"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

// patience is how long a request may take.
const patience = time.Minute

// Read is the snapshot after what the request begins from has read tokens, each
// with its adapter. The states of a mix read them as the first one does.
func Read(e chat.Engine, r infer.Request, tokens []int32, by []string) (*infer.Snapshot, error) {
	r.Logits, r.AnyAdapter = true, true
	if s := r.From; len(tokens) == 0 && s != nil && len(s.Pending) > 0 {
		end, err := run(e, with(r, ""))
		return end.Snapshot, err
	}
	for len(tokens) > 0 {
		n := same(by)
		r.Tokens = tokens[:n]
		end, err := run(e, with(r, by[0]))
		if err != nil {
			return nil, err
		}
		r.From, r.Members, r.Weight = end.Snapshot, nil, 0
		tokens, by = tokens[n:], by[n:]
	}
	return r.From, nil
}

// Answer is what the last turn of a line would be if nothing had interrupted
// it: its adapters are changed where it says that they were. The request is
// where the line begins, with the sampling and the stops of the answer.
func Answer(e chat.Engine, r infer.Request, line []turn.Turn) ([]int32, error) {
	t := line[len(line)-1]
	tokens, by := Readers(line)
	prompt := len(tokens) - len(t.Tokens)
	from, err := Read(e, r, tokens[:prompt], by[:prompt])
	if err != nil {
		return nil, err
	}
	r.From, r.Members, r.Weight, r.AnyAdapter = from, nil, 0, true
	if len(t.History.Runs) > 0 {
		by = by[:max(t.History.Len(), prompt)]
	}
	by = by[prompt:]
	if len(by) == 0 { // it has read nothing of its own
		by = []string{t.AdapterID}
	}
	endless := t.Reason == infer.ReasonStop
	var drawn []int32
	for len(by) > 0 {
		n := same(by)
		adapter := by[0]
		by = by[n:]
		r.MaxTokens = len(t.Tokens) - len(drawn)
		switch {
		case len(by) == 0 && endless:
			r.MaxTokens = 0
		case len(by) > 0 && len(drawn) == 0:
			r.MaxTokens = n + 1 // the last one is drawn, and read with the next adapter
		case len(by) > 0:
			r.MaxTokens = n
		}
		if r.MaxTokens == 0 && !endless {
			break
		}
		end, err := run(e, with(r, adapter))
		drawn = append(drawn, end.Tokens...)
		if err != nil || end.Reason == infer.ReasonStop {
			return drawn, err
		}
		r.From = end.Snapshot
	}
	return drawn, nil
}

// State is all that a snapshot has of states, in one: its own, then those of a mix.
func State(s *infer.Snapshot) []float32 {
	all := slices.Clone(s.State)
	for _, v := range s.Members {
		all = append(all, v.State...)
	}
	return all
}

// same is how many readers at the beginning are the same.
func same(by []string) int {
	n := 1
	for n < len(by) && by[n] == by[0] {
		n++
	}
	return n
}

// with is a request that reads with an adapter, in all its states.
func with(r infer.Request, adapter string) infer.Request {
	r.Adapter = adapter
	r.Members = withAdapter(r.Members, adapter)
	if r.From != nil && len(r.From.Members) > 0 {
		from := *r.From
		from.Members = withAdapter(from.Members, adapter)
		r.From = &from
	}
	return r
}

func withAdapter(members []infer.Member, adapter string) []infer.Member {
	members = slices.Clone(members)
	for i := range members {
		members[i].Adapter = adapter
	}
	return members
}

func run(e chat.Engine, r infer.Request) (infer.Ending, error) {
	s, err := e.Submit(r)
	if err != nil {
		return infer.Ending{}, err
	}
	select {
	case <-s.Done():
		return s.Ending(), s.Ending().Err
	case <-time.After(patience):
		s.Cancel()
		return infer.Ending{}, errors.New("the engine takes too long")
	}
}
