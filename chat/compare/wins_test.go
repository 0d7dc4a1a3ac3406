package compare

import (
	"math"
	"slices"
	"testing"

	"rookery/chat/turn"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// Values of R's binom::binom.wilson and prop.test(correct = FALSE).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		won       float64
		n         int
		low, high float64
	}{
		{8, 10, 0.4901625, 0.9433178},
		{0, 10, 0, 0.2775328},
		{10, 10, 0.7224672, 1},
		{50, 100, 0.4038315, 0.5961685},
		{1, 2, 0.0945312, 0.9054688},
	} {
		if got := wilson(c.won, c.n); !near(got.Low, c.low, 1e-6) || !near(got.High, c.high, 1e-6) {
			t.Errorf("%v of %d: %+v, want %v to %v", c.won, c.n, got, c.low, c.high)
		}
	}
}

func TestWinTable(t *testing.T) {
	vote := func(winner int, of ...turn.Description) turn.Vote { return turn.Vote{Variants: of, Winner: winner} }
	votes := slices.Concat(
		slices.Repeat([]turn.Vote{vote(0, "a", "b")}, 5),
		slices.Repeat([]turn.Vote{vote(1, "b", "a")}, 3),
		[]turn.Vote{vote(0, "b", "a"), vote(turn.Tie, "a", "b"), vote(1, "a"), vote(7, "a", "b")}, // the last two are none
	)
	table := CountWins(votes)
	if table.Votes != 10 || len(table.Standings) != 2 {
		t.Fatalf("%+v", table)
	}
	a, b := table.Standings[0], table.Standings[1]
	if a.Variant != "a" || a.Wins != 8 || a.Ties != 1 || a.Losses != 1 || b.Wins != 1 || b.Losses != 8 || a.Votes() != 10 {
		t.Errorf("%+v", table)
	}
	if want := wilson(8.5, 10); a.Rate != want || !near(a.Rate.Estimate+b.Rate.Estimate, 1, 1e-12) {
		t.Errorf("the rates are %+v and %+v, want %+v", a.Rate, b.Rate, want)
	}
	always := CountWins(slices.Repeat([]turn.Vote{vote(2, "a", "b", "c")}, 30)).Standings
	if s := always[0]; s.Variant != "c" || s.Rate.High < 0.99 || !(s.Rate.Low > 0.5) || always[1].Rate.Estimate != 0 {
		t.Errorf("who always wins: %+v", always)
	}
	same := CountWins([]turn.Vote{vote(0, "a", "a")}).Standings
	if len(same) != 1 || same[0].Wins != 1 || same[0].Losses != 1 || same[0].Rate.Estimate != 0.5 {
		t.Errorf("one with itself: %+v", same)
	}
	equal := CountWins([]turn.Vote{vote(0, "a", "z"), vote(0, "b", "z"), vote(0, "b", "z")}).Standings
	if equal[0].Variant != "b" || equal[1].Variant != "a" || equal[2].Variant != "z" {
		t.Errorf("of equal rates the one of fewer votes is first: %+v", equal)
	}
	if empty := CountWins(nil); empty.Votes != 0 || empty.Standings != nil {
		t.Errorf("of nothing: %+v", empty)
	}
}
