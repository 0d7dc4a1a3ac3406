package chat

import (
	"math"
	"rookery/chat/turn"
	"slices"
	"testing"
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

// baseball are the games of the American League of 1987 between its eastern
// teams, wins of the row over the column, from A. Agresti, Categorical Data
// Analysis, and the strengths that R's BradleyTerry2 fits to them: log-odds
// against Baltimore, and their standard errors.
var baseball = struct {
	teams             []string
	wins              [7][7]int
	strengths, errors []float64
}{
	teams: []string{"Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"},
	wins: [7][7]int{
		{0, 7, 9, 7, 7, 9, 11},
		{6, 0, 7, 5, 11, 9, 9},
		{4, 6, 0, 7, 7, 8, 12},
		{6, 8, 6, 0, 6, 7, 10},
		{6, 2, 6, 7, 0, 7, 12},
		{4, 4, 5, 6, 6, 0, 6},
		{2, 4, 1, 3, 1, 7, 0},
	},
	strengths: []float64{1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839},
	errors:    []float64{0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319},
}

func TestStrengthsAreTheReferences(t *testing.T) {
	var ballots []ballot
	for i, row := range baseball.wins {
		for j, n := range row {
			for range n {
				ballots = append(ballots, ballot{of: []int{i, j}, winner: i})
			}
		}
	}
	const n, last = 7, 6
	fitted := fitStrengths(ballots, n, 1e-6) // next to no phantom votes
	b := make([]float64, n)
	for i, s := range fitted {
		b[i] = s.value
	}
	_, information := derivatives(ballots, b, 1e-6)
	c := invert(information)
	for i, want := range baseball.strengths {
		if got := b[i] - b[last]; !near(got, want, 1e-3) {
			t.Errorf("%s: %v, want %v", baseball.teams[i], got, want)
		}
		if got := math.Sqrt(c[i][i] + c[last][last] - 2*c[i][last]); !near(got, baseball.errors[i], 1e-3) {
			t.Errorf("%s: standard error %v, want %v", baseball.teams[i], got, baseball.errors[i])
		}
	}
}

// Of three at once the likeliest strengths are the shares of the votes, and a
// tie changes nothing between equals.
func TestStrengthsOfThree(t *testing.T) {
	var ballots []ballot
	for winner, n := range []int{50, 30, 20} {
		for range n {
			ballots = append(ballots, ballot{of: []int{0, 1, 2}, winner: winner})
		}
	}
	s := fitStrengths(ballots, 3, 1e-9)
	if !near(s[0].value-s[1].value, math.Log(5.0/3), 1e-4) || !near(s[1].value-s[2].value, math.Log(1.5), 1e-4) {
		t.Errorf("%+v", s)
	}
	for _, s := range fitStrengths([]ballot{{of: []int{0, 1, 2}, winner: turn.Tie}}, 3, phantomVotes) {
		if !near(s.value, 0, 1e-9) || !(s.deviation > 0.5) {
			t.Errorf("after a tie %+v", s)
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
	table := Wins(votes)
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
	if s := a.Strength; !(0.5 < s.Estimate && s.Low < s.Estimate && s.Estimate < s.High && s.High < 1) {
		t.Errorf("the better one's strength is %+v", s)
	}
	always := Wins(slices.Repeat([]turn.Vote{vote(2, "a", "b", "c")}, 30)).Standings
	if s := always[0]; s.Variant != "c" || s.Strength.High >= 1 || !(s.Strength.Low > 0.5) || always[1].Strength.High > 0.7 {
		t.Errorf("who always wins: %+v", always)
	}
	same := Wins([]turn.Vote{vote(0, "a", "a")}).Standings
	if len(same) != 1 || same[0].Wins != 1 || same[0].Losses != 1 || !near(same[0].Strength.Estimate, 0.5, 1e-9) {
		t.Errorf("one with itself: %+v", same)
	}
	if empty := Wins(nil); empty.Votes != 0 || empty.Standings != nil {
		t.Errorf("of nothing: %+v", empty)
	}
}
