package infer

import (
	"runtime"
	"slices"
	"testing"
)

func states(n int) [][]float32 {
	all := make([][]float32, n)
	for i := range all {
		all[i] = make([]float32, 8)
	}
	return all
}

// fill makes a state resident in each of a pool's slots.
func fill(t *testing.T, p *pool, all [][]float32) {
	t.Helper()
	for _, state := range all {
		s, ok := p.take()
		if !ok {
			t.Fatal("no slot")
		}
		p.keepResident(s, state)
	}
}

func TestPoolGivesUpTheLongestUnused(t *testing.T) {
	p, all := newPool(3, 3), states(3)
	fill(t, &p, all)
	p.touch(p.find(identify(all[0])))
	for _, want := range []int{1, 2, 0} {
		gone := identify(all[want])
		if p.find(gone) < 0 {
			t.Fatalf("state %d went too early", want)
		}
		if _, ok := p.take(); !ok || p.find(gone) >= 0 {
			t.Fatalf("state %d is still there", want)
		}
	}
	if _, ok := p.take(); ok {
		t.Error("a fourth slot of three")
	}
	if k := p.kinds(); k != (SlotKinds{Running: 3}) {
		t.Errorf("%+v", k)
	}
	runtime.KeepAlive(all)
}

// A state that the host has let go of cannot be asked for: it goes first.
func TestPoolGivesUpDeadStatesFirst(t *testing.T) {
	p, all := newPool(3, 3), states(3)
	fill(t, &p, all)
	dead := identify(all[1])
	all[1] = nil
	for range 10 {
		if runtime.GC(); !dead.alive() {
			break
		}
	}
	if _, ok := p.take(); !ok || p.find(dead) >= 0 {
		t.Error("the dead state is still there")
	}
	if p.find(identify(all[0])) < 0 || p.find(identify(all[2])) < 0 {
		t.Error("a living state went before it")
	}
}

// States come and go, and their places are used again: an identity is never
// that of another state.
func TestIdentityIsNotTheAddress(t *testing.T) {
	p := newPool(64, 64)
	for range 2000 {
		state := make([]float32, 1<<15) // large enough to get a page of its own
		if p.find(identify(state)) >= 0 {
			t.Fatal("a new state was taken for an old one")
		}
		s, _ := p.take()
		p.keepResident(s, state)
	}
}

func TestPoolLimit(t *testing.T) {
	for _, limit := range []int{0, 1, 2} {
		p, all := newPool(4, limit), states(4)
		fill(t, &p, all)
		if k := p.kinds(); k.Resident != limit || k.Free != 4-limit {
			t.Errorf("limit %d: %+v", limit, k)
		}
		if limit > 0 && p.find(identify(all[3])) < 0 {
			t.Errorf("limit %d: the newest is not there", limit)
		}
		runtime.KeepAlive(all)
	}
}

// Two slots with one state: the second is of no use.
func TestPoolKeepsAStateOnce(t *testing.T) {
	p, all := newPool(4, 4), states(1)
	fill(t, &p, slices.Repeat(all, 2))
	if k := p.kinds(); k.Resident != 1 || k.Free != 3 {
		t.Errorf("%+v", k)
	}
}
