package chat

import (
	"cmp"
	"math"
	"rookery/chat/turn"
	"slices"
)

// z95 is the normal distribution's quantile for 95 % intervals.
const z95 = 1.959963984540054

// A WinTable is what votes say of variants, the best first.
type WinTable struct {
	Votes     int
	Standings []Standing
}

// A Standing is what votes say of one variant.
type Standing struct {
	Variant            turn.Description
	Wins, Ties, Losses int
	// Rate is wins, with a tie shared among those it was between, by votes;
	// chance alone gives one part of as many as were compared.
	Rate Interval
	// Strength is the chance to be preferred to an average variant of the
	// table, whoever each was compared with.
	Strength Interval
}

// Votes is how many the variant had part in.
func (s *Standing) Votes() int { return s.Wins + s.Ties + s.Losses }

// An Interval is an estimate with its 95 % interval.
type Interval struct {
	Estimate  float64
	Low, High float64
}

// Wins makes the table of votes.
//
// The interval of a rate is Wilson's score interval (E. B. Wilson, Probable
// inference, the law of succession, and statistical inference, Journal of the
// American Statistical Association 22, 1927). Strengths are a Bradley-Terry
// model, for more than two answers at once in Luce's form, see fitStrengths.
func Wins(votes []turn.Vote) WinTable {
	at := map[turn.Description]int{}
	var t WinTable
	var ballots []ballot
	var score []float64
	for _, v := range votes {
		if v.Check() != nil {
			continue
		}
		t.Votes++
		b := ballot{winner: turn.Tie}
		for _, d := range v.Variants {
			i, ok := at[d]
			if !ok {
				i = len(t.Standings)
				at[d] = i
				t.Standings, score = append(t.Standings, Standing{Variant: d}), append(score, 0)
			}
			b.of = append(b.of, i)
		}
		if v.Winner >= 0 {
			b.winner = b.of[v.Winner]
		}
		t.count(b, score)
		ballots = append(ballots, b)
	}
	strengths := fitStrengths(ballots, len(t.Standings), phantomVotes)
	for i := range t.Standings {
		s := &t.Standings[i]
		s.Rate, s.Strength = wilson(score[i], s.Votes()), strengths[i].chance()
	}
	slices.SortStableFunc(t.Standings, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Strength.Estimate, a.Strength.Estimate), cmp.Compare(a.Variant, b.Variant))
	})
	return t
}

// count adds a ballot. A variant that was compared with itself, under another
// seed, counts once for each of its answers.
func (t *WinTable) count(b ballot, score []float64) {
	won := false
	for _, i := range b.of {
		s := &t.Standings[i]
		switch {
		case b.winner == turn.Tie:
			s.Ties++
			score[i] += 1 / float64(len(b.of))
		case b.winner == i && !won:
			s.Wins++
			score[i]++
			won = true
		default:
			s.Losses++
		}
	}
}

// wilson is the score interval of successes, perhaps shared ones, in n trials.
func wilson(successes float64, n int) Interval {
	if n == 0 {
		return Interval{Estimate: 0.5, Low: 0, High: 1}
	}
	trials := float64(n)
	p, z2 := successes/trials, z95*z95
	middle := (p + z2/(2*trials)) / (1 + z2/trials)
	half := z95 / (1 + z2/trials) * math.Sqrt(p*(1-p)/trials+z2/(4*trials*trials))
	return Interval{Estimate: p, Low: max(middle-half, 0), High: min(middle+half, 1)}
}
