package infer

import (
	"errors"
	"fmt"
	"slices"
)

// A Member is one of the further states of a mix: multi recurrent state
// sampling. All states of a mix read the same tokens; their logits, weighted
// and normalised, make one distribution, from which one token is drawn for
// all:
//
//	z = Σ_k g_k z_k / Σ_k g_k,  that is  p ∝ Π_k p_k^(g_k/Σg)
//
// The first of them is what Request.From continues. A weight may be 0, which
// keeps the state in step, or negative, which contrasts.
type Member struct {
	Name    string
	Weight  float32
	Adapter string    // fingerprint of a loaded one; "" is none
	State   []float32 // canonical layout; nil is the zero state
	Logits  []float32 // after the last token that State has consumed, or nil
}

// CheckWeights says why weights cannot gate a mix, or nil.
func CheckWeights(weights []float32) error {
	const most = 1000
	sum := 0.0
	for i, w := range weights {
		if !(w >= -most && w <= most) { // NaN too
			return fmt.Errorf("weight %d of the mix is %v: it must be between %d and %d", i+1, w, -most, most)
		}
		sum += float64(w)
	}
	if sum < 1e-6 {
		return fmt.Errorf("the weights of the mix add up to %.3g: they must add up to more than 0", sum)
	}
	return nil
}

// maxMembers bounds the further states of a mix.
const maxMembers = 63

// weights are those of a mix, the sequence's own first.
func weights(own float32, voices []Member) []float32 {
	w := []float32{own}
	for _, v := range voices {
		w = append(w, v.Weight)
	}
	return w
}

// checkMembers says what is wrong with a mix on a model, or nil.
func checkMembers(m *Model, own float32, voices []Member) error {
	if len(voices) == 0 {
		return nil
	}
	if len(voices) > maxMembers {
		return fmt.Errorf("a mix of %d states: at most %d can be mixed", len(voices)+1, maxMembers+1)
	}
	for _, v := range voices {
		if n := m.Shape.StateLen(); v.State != nil && len(v.State) != n {
			return fmt.Errorf("state %q of the mix has %d values, but one of %s has %d: it is of another model", v.Name, len(v.State), m.Name, n)
		}
		if n := m.Shape.Vocab; v.Logits != nil && len(v.Logits) != n {
			return fmt.Errorf("state %q of the mix has %d logits, but %s has %d: it is of another model", v.Name, len(v.Logits), m.Name, n)
		}
	}
	return CheckWeights(weights(own, voices))
}

// mixed makes a request's mix part of what it goes on from: Request.Voices, if
// it is not nil, takes the place of the snapshot's.
func (r *Request) mixed(m *Model) {
	if r.Members == nil {
		return
	}
	from := Snapshot{Model: m.Fingerprint, Tokenizer: m.Tokenizer.Fingerprint(), Adapter: r.Adapter}
	if r.From != nil {
		from = *r.From
	}
	from.Weight, from.Members = r.Weight, slices.Clone(r.Members)
	if slices.ContainsFunc(from.Members, func(v Member) bool { return v.Logits == nil }) {
		from.Logits = nil // a draw needs those of all
	}
	r.From, r.Members = &from, nil
}

// A member is one of the further states of a running mix.
type member struct {
	Member  // without State and Logits
	adapter AdapterID
	slot    Slot
	logits  []float32
}

// A mix is what a sequence with several states has besides.
type mix struct {
	weight   float32 // of the sequence's own state
	voices   []member
	onDevice bool // the backend draws: it is a Mixer

	blend  Blend
	gates  []float32 // what gate returns, as are states
	states [][]float32
}

// admitMembers gives the states of a mix their slots. ok is false if there are
// not enough; none is taken then.
func (e *Engine) admitMembers(q *sequence) (ok bool, err error) {
	from := q.req.From
	if from == nil || len(from.Members) == 0 {
		return true, nil
	}
	if n := len(from.Members) + 1; n > e.slots || n > e.tokens {
		return true, fmt.Errorf("a mix of %d states needs as many slots and tokens a step, and %s has %d and %d", n, e.name, e.slots, e.tokens)
	}
	q.mix = &mix{weight: from.Weight, onDevice: len(from.Members) <= e.maxMembers}
	for _, v := range from.Members {
		slot, ok := e.takeSlot()
		if !ok {
			e.dropMembers(q)
			return false, nil
		}
		v := member{Member: v, slot: slot}
		v.State, v.Logits = nil, nil
		q.mix.voices = append(q.mix.voices, v)
	}
	return true, e.loadMembers(q, from)
}

// loadMembers gives the slots of a mix the states of a snapshot of it.
func (e *Engine) loadMembers(q *sequence, from *Snapshot) error {
	if q.mix == nil {
		return nil
	}
	if len(from.Members) != len(q.mix.voices) {
		return errors.New("the states of the mix are lost: it cannot go on from here")
	}
	for i := range q.mix.voices {
		v := &q.mix.voices[i]
		id, err := e.adapterID(v.Adapter)
		if err != nil {
			return err
		}
		v.adapter = id
		if v.logits == nil {
			v.logits = make([]float32, e.model.Shape.Vocab)
		}
		copy(v.logits, from.Members[i].Logits)
		state := from.Members[i].State
		if state == nil {
			err = e.device.ZeroSlot(v.slot)
		} else {
			err = e.device.WriteSlot(v.slot, state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropMembers gives the slots of a mix back.
func (e *Engine) dropMembers(q *sequence) {
	if q.mix == nil {
		return
	}
	for _, v := range q.mix.voices {
		e.pool.put(v.slot)
	}
	q.mix = nil
}

// readMembers completes a snapshot with the states of a mix as they are now.
// logits says whether they are of the last consumed token.
func (e *Engine) readMembers(q *sequence, s *Snapshot, logits bool) error {
	if q.mix == nil {
		return nil
	}
	s.Weight, s.Members = q.mix.weight, nil
	for _, v := range q.mix.voices {
		state, err := e.readState(v.slot)
		if err != nil {
			return err
		}
		out := v.Member
		out.State = state
		if logits {
			out.Logits = slices.Clone(v.logits)
		}
		s.Members = append(s.Members, out)
	}
	return nil
}

// rows is how many rows a step has for q.
func (q *sequence) rows() int {
	if q.mix == nil {
		return 1
	}
	return 1 + len(q.mix.voices)
}

// mixRows adds the rows of a mix, of which own is the first.
func (q *sequence) mixRows(rows []Row, own Row) []Row {
	gates, _ := q.gate()
	own.Gate = gates[0]
	if own.Sampler != nil {
		own.Members = len(q.mix.voices)
	}
	rows = append(rows, own)
	for i := range q.mix.voices {
		v := &q.mix.voices[i]
		r := Row{Slot: v.slot, Adapter: v.adapter, Tokens: own.Tokens, Gate: gates[i+1]}
		if own.Logits != nil {
			r.Logits = v.logits
		}
		rows = append(rows, r)
	}
	return rows
}

// takeWeights takes over what Stream.SetWeights left.
func (q *sequence) takeWeights() {
	p := q.stream.weights.Swap(nil)
	if p == nil || q.mix == nil || len(*p) != 1+len(q.mix.voices) {
		return
	}
	q.mix.weight = (*p)[0]
	for i := range q.mix.voices {
		q.mix.voices[i].Weight = (*p)[i+1]
	}
}

// gate puts the gates and the logits of a mix where a Blend can have them.
func (q *sequence) gate() (gates []float32, states [][]float32) {
	m := q.mix
	m.gates, m.states = m.gates[:0], append(m.states[:0], q.logits)
	sum := float64(m.weight)
	for _, v := range m.voices {
		sum += float64(v.Weight)
		m.states = append(m.states, v.logits)
	}
	m.gates = append(m.gates, float32(float64(m.weight)/sum))
	for _, v := range m.voices {
		m.gates = append(m.gates, float32(float64(v.Weight)/sum))
	}
	return m.gates, m.states
}

// combine makes the logits that the next token is drawn from.
func (q *sequence) combine() []float32 {
	if q.mix == nil {
		return q.logits
	}
	return q.mix.blend.Logits(q.gate())
}
