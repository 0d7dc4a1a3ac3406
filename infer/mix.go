package infer

import (
	"errors"
	"fmt"
	"slices"
)

// A Member is one of the further states of a mix (multi recurrent state sampling,
// MRSS, of OpenMOSE/RWKV-Infer). All states of a mix read the same tokens. Their
// logits are combined by normalised weights, and one token is drawn for all:
//
//	z = Σ_k g_k z_k / Σ_k g_k,  that is  p ∝ Π_k p_k^(g_k/Σg)
//
// State 0 is that of Request.From. A member of weight 0 reads along without a part
// in the draw; a negative weight makes what the member likes less likely.
type Member struct {
	Name    string
	Weight  float32
	Adapter string    // fingerprint of a loaded one; "" is none
	State   []float32 // canonical layout; nil is the zero state
	Logits  []float32 // after the last token that State has consumed, or nil
}

// CheckWeights says why weights are no weights of a mix, or nil. Each is at most
// 1000 in size, and they add up to more than 0.
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

// maxMembers bounds the members of a mix.
const maxMembers = 63

// weights are those of all states of a mix, own first.
func weights(own float32, members []Member) []float32 {
	w := []float32{own}
	for _, m := range members {
		w = append(w, m.Weight)
	}
	return w
}

// checkMembers says what is wrong with a mix on a model, or nil.
func checkMembers(m *Model, own float32, members []Member) error {
	if len(members) == 0 {
		return nil
	}
	if len(members) > maxMembers {
		return fmt.Errorf("a mix of %d states: at most %d can be mixed", len(members)+1, maxMembers+1)
	}
	for _, v := range members {
		if n := m.Shape.StateLen(); v.State != nil && len(v.State) != n {
			return fmt.Errorf("state %q of the mix has %d values, but one of %s has %d: it is of another model", v.Name, len(v.State), m.Name, n)
		}
		if n := m.Shape.Vocab; v.Logits != nil && len(v.Logits) != n {
			return fmt.Errorf("state %q of the mix has %d logits, but %s has %d: it is of another model", v.Name, len(v.Logits), m.Name, n)
		}
	}
	return CheckWeights(weights(own, members))
}

// mergeMix moves the mix of a request into its From: Members, if it is not nil,
// takes the place of the snapshot's.
func (r *Request) mergeMix(m *Model) {
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

// A member is a Member of a running mix.
type member struct {
	Member  // without State and Logits
	adapter AdapterID
	slot    Slot
	logits  []float32
}

// A mix is the part of a sequence that only one with several states has.
type mix struct {
	weight   float32 // of the sequence's own state
	members  []member
	onDevice bool // the backend draws: it is a Mixer

	blend  Blend
	gates  []float32 // memory of gateLogits, as is states
	states [][]float32
}

// admitMembers gives the members of a mix their slots. ok is false if there are not
// enough; then it takes none.
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
		q.mix.members = append(q.mix.members, v)
	}
	return true, e.loadMembers(q, from)
}

// loadMembers puts the states of a snapshot's members into the slots of a mix.
func (e *Engine) loadMembers(q *sequence, from *Snapshot) error {
	if q.mix == nil {
		return nil
	}
	if len(from.Members) != len(q.mix.members) {
		return errors.New("the states of the mix are lost: it cannot go on from here")
	}
	for i := range q.mix.members {
		v := &q.mix.members[i]
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

// dropMembers frees the slots of the members.
func (e *Engine) dropMembers(q *sequence) {
	if q.mix == nil {
		return
	}
	for _, v := range q.mix.members {
		e.pool.put(v.slot)
	}
	q.mix = nil
}

// readMembers adds the members of a mix to a snapshot, with their states as they are
// now. logits says whether their logits are of the last consumed token.
func (e *Engine) readMembers(q *sequence, s *Snapshot, logits bool) error {
	if q.mix == nil {
		return nil
	}
	s.Weight, s.Members = q.mix.weight, nil
	for _, v := range q.mix.members {
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

// rowCount is how many rows q has in a step.
func (q *sequence) rowCount() int {
	if q.mix == nil {
		return 1
	}
	return 1 + len(q.mix.members)
}

// mixRows appends the rows of a mix, own first.
func (q *sequence) mixRows(rows []Row, own Row) []Row {
	gates, _ := q.gateLogits()
	own.Gate = gates[0]
	if own.Sampler != nil {
		own.Members = len(q.mix.members)
	}
	rows = append(rows, own)
	for i := range q.mix.members {
		v := &q.mix.members[i]
		r := Row{Slot: v.slot, Adapter: v.adapter, Tokens: own.Tokens, Gate: gates[i+1]}
		if own.Logits != nil {
			r.Logits = v.logits
		}
		rows = append(rows, r)
	}
	return rows
}

// takeWeights applies the weights of the last Stream.SetWeights.
func (q *sequence) takeWeights() {
	p := q.stream.weights.Swap(nil)
	if p == nil || q.mix == nil || len(*p) != 1+len(q.mix.members) {
		return
	}
	q.mix.weight = (*p)[0]
	for i := range q.mix.members {
		q.mix.members[i].Weight = (*p)[i+1]
	}
}

// gateLogits are the normalised weights and the logits of the states of a mix, for a
// Blend. They are valid until the next call.
func (q *sequence) gateLogits() (gates []float32, states [][]float32) {
	m := q.mix
	m.gates, m.states = m.gates[:0], append(m.states[:0], q.logits)
	sum := float64(m.weight)
	for _, v := range m.members {
		sum += float64(v.Weight)
		m.states = append(m.states, v.logits)
	}
	m.gates = append(m.gates, float32(float64(m.weight)/sum))
	for _, v := range m.members {
		m.gates = append(m.gates, float32(float64(v.Weight)/sum))
	}
	return m.gates, m.states
}

// combineLogits are the logits that the next token is drawn from.
func (q *sequence) combineLogits() []float32 {
	if q.mix == nil {
		return q.logits
	}
	return q.mix.blend.Logits(q.gateLogits())
}
