package compare

import (
	"cmp"
	"math"
	"slices"

	"rookery/chat/turn"
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
}

// Votes is how many the variant had part in.
func (s *Standing) Votes() int { return s.Wins + s.Ties + s.Losses }

// An Interval is an estimate with its 95 % interval.
type Interval struct {
	Estimate  float64
	Low, High float64
}

// CountWins makes the table of votes. The interval of a rate is Wilson's score
// interval (E. B. Wilson, Probable inference, the law of succession, and
// statistical inference, Journal of the American Statistical Association 22,
// 1927). Of equal rates the one of more votes comes first.
func CountWins(votes []turn.Vote) WinTable {
	at := map[turn.Description]int{}
	var t WinTable
	var score []float64
	for _, v := range votes {
		if v.Check() != nil {
			continue
		}
		t.Votes++
		of := make([]int, len(v.Variants))
		for k, d := range v.Variants {
			i, ok := at[d]
			if !ok {
				i = len(t.Standings)
				at[d] = i
				t.Standings, score = append(t.Standings, Standing{Variant: d}), append(score, 0)
			}
			of[k] = i
		}
		t.addVote(of, v.Winner, score)
	}
	for i := range t.Standings {
		s := &t.Standings[i]
		s.Rate = wilson(score[i], s.Votes())
	}
	slices.SortStableFunc(t.Standings, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Rate.Estimate, a.Rate.Estimate), cmp.Compare(b.Votes(), a.Votes()), cmp.Compare(a.Variant, b.Variant))
	})
	return t
}

// addVote counts a vote between the standings of some variants. One that was
// compared with itself, under another seed, counts once for each answer.
func (t *WinTable) addVote(of []int, winner int, score []float64) {
	for k, i := range of {
		s := &t.Standings[i]
		switch winner {
		case turn.Tie:
			s.Ties++
			score[i] += 1 / float64(len(of))
		case k:
			s.Wins++
			score[i]++
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
