package turn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rookery/infer"
)

// A MixMember is one state of a mix.
type MixMember struct {
	State  ID      `json:"state,omitempty"` // of the library
	Name   string  `json:"name,omitempty"`
	Weight float32 `json:"weight"`
	Mute   bool    `json:"mute,omitempty"`
	Solo   bool    `json:"solo,omitempty"`
}

// A Mix combines states: all of them read what the conversation reads, and every
// token is drawn from their weighted logits. Own is the conversation's own state,
// Others are of the library. The zero Mix, without others, is none.
type Mix struct {
	Own    MixMember   `json:"own"`
	Others []MixMember `json:"faders,omitempty"`
}

// Active says whether there is anything to mix.
func (m Mix) Active() bool { return len(m.Others) > 0 }

// IsZero says that JSON may leave the mix out.
func (m Mix) IsZero() bool { return !m.Active() }

// Members are all states of the mix, the conversation's own first.
func (m Mix) Members() []MixMember { return append([]MixMember{m.Own}, m.Others...) }

// WithMember is the mix with another member in place i of Members.
func (m Mix) WithMember(i int, member MixMember) Mix {
	if i == 0 {
		m.Own = member
		return m
	}
	m.Others = slices.Clone(m.Others)
	m.Others[i-1] = member
	return m
}

// Weights are those in force, in the order of Members: a muted one is 0, and so
// are those that are not solo where others are.
func (m Mix) Weights() []float32 {
	all := m.Members()
	solo := slices.ContainsFunc(all, func(f MixMember) bool { return f.Solo })
	w := make([]float32, len(all))
	for i, f := range all {
		if !f.Mute && (!solo || f.Solo) {
			w[i] = f.Weight
		}
	}
	return w
}

// Check says why the mix cannot be used, or nil.
func (m Mix) Check() error {
	if !m.Active() {
		return nil
	}
	seen := map[ID]bool{}
	for _, f := range m.Others {
		if seen[f.State] {
			return fmt.Errorf("state %q is twice in the mix", f.Name)
		}
		seen[f.State] = true
	}
	return infer.CheckWeights(m.Weights())
}

// Effective is the mix with the weights in force, without mute and solo.
func (m Mix) Effective() Mix {
	w := m.Weights()
	m.Own = MixMember{Name: m.Own.Name, Weight: w[0]}
	m.Others = slices.Clone(m.Others)
	for i := range m.Others {
		m.Others[i].Weight, m.Others[i].Mute, m.Others[i].Solo = w[i+1], false, false
	}
	return m
}

// Same says whether two mixes have the same states, whatever their weights.
func (m Mix) Same(other Mix) bool {
	return slices.EqualFunc(m.Others, other.Others, func(a, b MixMember) bool { return a.State == b.State })
}

// String says the mix as `--mix` takes it: "own=1,dialogue=0.7,sad=-0.3".
func (m Mix) String() string {
	if !m.Active() {
		return ""
	}
	var parts []string
	for i, f := range m.Members() {
		name := f.Name
		if i == 0 {
			name = OwnName
		}
		part := name + "=" + strconv.FormatFloat(float64(f.Weight), 'g', 4, 32)
		switch {
		case f.Mute:
			part += " (mute)"
		case f.Solo:
			part += " (solo)"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// OwnName is what the conversation's own state is called in a mix.
const OwnName = "own"

// Reweight gives the members of a snapshot the mix's weights.
func (m Mix) Reweight(members []infer.Member) []infer.Member {
	w := m.Weights()
	out := slices.Clone(members)
	for i := range out {
		out[i].Weight = w[i+1]
	}
	return out
}

// Has says whether a state of the library is in the mix.
func (m Mix) Has(state ID) bool {
	return slices.ContainsFunc(m.Others, func(f MixMember) bool { return f.State == state })
}

// Holds says whether a snapshot has the states of the mix.
func (m Mix) Holds(s *infer.Snapshot) bool {
	if !m.Active() {
		return true // of a snapshot with more, the own state is used alone
	}
	return slices.EqualFunc(m.Others, s.Members, func(f MixMember, v infer.Member) bool { return f.State.String() == v.Name })
}

// Key names the states of the mix: the same tokens read with other states beside
// them lead to another state.
func (m Mix) Key() string {
	var ids []string
	for _, f := range m.Others {
		ids = append(ids, f.State.String())
	}
	return strings.Join(ids, ",")
}

// A NamedMix is one that a person has saved.
type NamedMix struct {
	Name string
	Mix  Mix
	Used time.Time // saved or taken last
}

// WithNames is the mix with the names that its states have now.
func (m Mix) WithNames(states []State) Mix {
	m.Others = slices.Clone(m.Others)
	for i, f := range m.Others {
		if at := slices.IndexFunc(states, func(s State) bool { return s.ID == f.State }); at >= 0 {
			m.Others[i].Name = states[at].Name
		}
	}
	return m
}
