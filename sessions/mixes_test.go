package sessions

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat/memstore"
	"rookery/chat/turn"
)

func mixOf(states ...turn.ID) turn.Mix {
	m := turn.Mix{Own: turn.MixMember{Weight: 1}}
	for i, id := range states {
		m.Others = append(m.Others, turn.MixMember{State: id, Name: "state 猫", Weight: 0.25 * float32(i+1), Mute: i == 1, Solo: false})
	}
	return m
}

// Both stores keep saved mixes alike.
func TestMixes(t *testing.T) {
	for name, s := range map[string]turn.Store{"sqlite": open(t, t.TempDir()), "memory": memstore.New()} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			early := turn.NamedMix{Name: "early", Mix: mixOf(1<<60, 2000), Used: when}
			late := turn.NamedMix{Name: "late 'x'", Mix: mixOf(2000), Used: when.Add(time.Hour)}
			must(t, s.SaveMix(ctx, early))
			must(t, s.SaveMix(ctx, late))
			list, err := s.Mixes(ctx)
			must(t, err)
			if diff := cmp.Diff([]turn.NamedMix{late, early}, list); diff != "" {
				t.Error(diff)
			}
			early.Mix, early.Used = mixOf(3000), when.Add(2*time.Hour)
			must(t, s.SaveMix(ctx, early))
			must(t, s.DeleteMix(ctx, late.Name))
			must(t, s.DeleteMix(ctx, "nobody"))
			list, err = s.Mixes(ctx)
			must(t, err)
			if diff := cmp.Diff([]turn.NamedMix{early}, list); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A state that a mix has, stored or saved, stays.
func TestAStateOfAMixStays(t *testing.T) {
	for name, s := range map[string]turn.Store{"sqlite": open(t, t.TempDir()), "memory": memstore.New()} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			const big = 1<<60 + 1 // more than a float holds
			must(t, s.SaveState(ctx, libraryState(big, "a")))
			must(t, s.SaveState(ctx, libraryState(big+1, "b")))
			c := conversation(1)
			c.Mix = mixOf(77, big)
			must(t, s.SaveConversation(ctx, c))
			must(t, s.SaveMix(ctx, turn.NamedMix{Name: "m", Mix: mixOf(big)}))
			var used *turn.InUseError
			if err := s.DeleteState(ctx, big); !errors.As(err, &used) || used.Mixing != 1 || used.Saved != 1 || used.Conversations != 0 {
				t.Errorf("a state of mixes: %v, %+v", err, used)
			}
			must(t, s.Delete(ctx, 1))
			if err := s.DeleteState(ctx, big); !errors.As(err, &used) || used.Mixing != 0 || used.Saved != 1 {
				t.Errorf("a state of a saved mix: %v, %+v", err, used)
			}
			must(t, s.DeleteMix(ctx, "m"))
			must(t, s.DeleteState(ctx, big))
			must(t, s.DeleteState(ctx, big+1))
		})
	}
}
