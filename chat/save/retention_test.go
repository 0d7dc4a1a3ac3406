package save_test

import (
	"math/bits"
	"slices"
	"testing"

	"rookery/chat/save"
	"rookery/chat/turn"
)

// line is n turns one below the other, from id 1, all with snapshots.
func line(n int) []save.Kept {
	turns := make([]save.Kept, n)
	for i := range turns {
		turns[i] = save.Kept{ID: turn.ID(i + 1), Parent: turn.ID(i), Bytes: 1}
	}
	return turns
}

// without leaves the snapshots of spared turns away.
func without(turns []save.Kept, spared []turn.ID) []save.Kept {
	turns = slices.Clone(turns)
	for i := range turns {
		if slices.Contains(spared, turns[i].ID) {
			turns[i].Bytes = 0
		}
	}
	return turns
}

func held(turns []save.Kept) (ids []turn.ID) {
	for _, k := range turns {
		if k.Bytes > 0 {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

func TestThinningOfALine(t *testing.T) {
	const n = 1000
	end := turn.ID(n)
	kept := held(without(line(n), save.Thin(line(n), end, end, save.ThinLightly)))
	if most := 16 + 8*bits.Len(n/16) + 1; len(kept) > most || len(kept) < most/2 {
		t.Errorf("%d of %d turns keep theirs, not about %d: %v", len(kept), n, most, kept)
	}
	for id := end; id > n-16; id-- {
		if !slices.Contains(kept, id) {
			t.Errorf("turn %d of %d has lost its snapshot", id, n)
		}
	}
	at := turn.ID(0)
	for _, id := range kept {
		if gap, far := id-at, end-at; gap > max(far/4, 1) {
			t.Errorf("from turn %d to turn %d nothing is kept: too much to read %d before the end", at, id, far)
		}
		at = id
	}
}

// A line that is thinned whenever it grows must have what one has that is
// thinned once.
func TestThinningIsLasting(t *testing.T) {
	var turns []save.Kept
	for n := range 500 {
		turns = append(turns, save.Kept{ID: turn.ID(n + 1), Parent: turn.ID(n), Bytes: 1})
		end := turn.ID(n + 1)
		turns = without(turns, save.Thin(turns, end, end, save.ThinLightly))
	}
	once := without(line(500), save.Thin(line(500), 500, 500, save.ThinLightly))
	if !slices.Equal(held(turns), held(once)) {
		t.Errorf("thinned as it grew: %v\nthinned at the end: %v", held(turns), held(once))
	}
}

func TestThinningOfATree(t *testing.T) {
	turns := line(300)
	// A fork at turn 7 (another line of three turns), one marked turn at 13.
	for i, parent := range []turn.ID{7, 301, 302} {
		turns = append(turns, save.Kept{ID: turn.ID(301 + i), Parent: parent, Bytes: 1})
	}
	turns[12].Marked = true
	const head, tip = 199, 300
	var before []turn.ID
	for by := save.ThinLightly; by <= save.ThinToMarks; by++ {
		kept := held(without(turns, save.Thin(turns, head, tip, by)))
		want := []turn.ID{13}
		if by <= save.ThinToEnd {
			want = append(want, head, tip)
		}
		if by <= save.ThinToForks {
			want = append(want, 7)
		}
		if by < save.ThinToForks {
			want = append(want, 303)
		}
		for _, id := range want {
			if !slices.Contains(kept, id) {
				t.Errorf("step %d: turn %d has lost its snapshot", by, id)
			}
		}
		if by >= save.ThinToForks && len(kept) != len(want) {
			t.Errorf("step %d keeps %v, want %v", by, kept, want)
		}
		for _, id := range kept {
			if before != nil && !slices.Contains(before, id) {
				t.Errorf("step %d keeps turn %d, which the step before does not", by, id)
			}
		}
		before = kept
	}
}

func TestThinningOfWhatIsDamaged(t *testing.T) {
	turns := []save.Kept{{ID: 5, Parent: 9, Bytes: 1}, {ID: 9, Parent: 5, Bytes: 1}, {ID: 11, Parent: 11, Bytes: 1}}
	if spared := save.Thin(turns, 0, 77, save.ThinToMarks); len(spared) != 3 {
		t.Errorf("spared %v", spared)
	}
	save.Thin(turns, 0, 77, save.ThinLightly)
	if spared := save.Thin(nil, 1, 1, save.ThinLightly); spared != nil {
		t.Errorf("spared %v of nothing", spared)
	}
}
