package chat

import (
	"math"

	"rookery/chat/turn"
)

// A ballot is a vote with numbers for variants.
type ballot struct {
	of     []int // the variants, one for each answer
	winner int   // one of of, or Tie
}

// A strength is the logarithm of a variant's Bradley-Terry strength, relative
// to the average variant, and its standard error.
type strength struct{ value, deviation float64 }

// chance is the probability to be preferred to the average variant.
func (s strength) chance() Interval {
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	return Interval{
		Estimate: logistic(s.value),
		Low:      logistic(s.value - z95*s.deviation),
		High:     logistic(s.value + z95*s.deviation),
	}
}

// phantomVotes is how many votes every variant is given against an imaginary
// one of strength 1, half of them won: without them the strength of a variant
// that always won would be infinite.
const phantomVotes = 1

// fitStrengths fits n variants' strengths to votes: the probability that i is
// preferred among S is exp(b_i) / Σ_{j in S} exp(b_j), and a tie is an equal
// part of a vote for each. It is the Bradley-Terry model (R. A. Bradley and
// M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39, 1952)
// with the choice axiom of R. D. Luce (Individual choice behavior, 1959) for
// more than two. The likelihood is maximised by Newton's method; it has one
// maximum. Deviations are normal ones, of the inverse of its information, for
// strengths less their mean.
func fitStrengths(ballots []ballot, n int, phantom float64) []strength {
	b := make([]float64, n)
	const steps, enough = 100, 1e-10
	for range steps {
		slope, information := derivatives(ballots, b, phantom)
		step := solve(information, slope)
		largest := 0.0
		for _, s := range step {
			largest = max(largest, math.Abs(s))
		}
		for i, s := range step {
			b[i] += s / max(largest, 1) // no further than the model can be trusted
		}
		if largest < enough {
			break
		}
	}
	_, information := derivatives(ballots, b, phantom)
	return centred(b, invert(information))
}

// derivatives are the slope of the log-likelihood and the negative of its
// second derivatives, n to a row.
func derivatives(ballots []ballot, b []float64, phantom float64) (slope []float64, information [][]float64) {
	n := len(b)
	slope, information = make([]float64, n), make([][]float64, n)
	for i := range information {
		information[i] = make([]float64, n)
		p := 1 / (1 + math.Exp(-b[i]))
		slope[i] = phantom * (0.5 - p)
		information[i][i] = phantom * p * (1 - p)
	}
	for _, vote := range ballots {
		p := chances(vote.of, b)
		for k, i := range vote.of {
			slope[i] -= p[k]
			if vote.winner == turn.Tie {
				slope[i] += 1 / float64(len(vote.of))
			}
			information[i][i] += p[k]
			for l, j := range vote.of {
				information[i][j] -= p[k] * p[l]
			}
		}
		if vote.winner != turn.Tie {
			slope[vote.winner]++
		}
	}
	return slope, information
}

// chances are the probabilities that each of some variants is preferred.
func chances(of []int, b []float64) []float64 {
	top := math.Inf(-1)
	for _, i := range of {
		top = max(top, b[i])
	}
	p, sum := make([]float64, len(of)), 0.0
	for k, i := range of {
		p[k] = math.Exp(b[i] - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// centred are strengths less their mean, with the deviations that follow from
// the covariances of b.
func centred(b []float64, covariance [][]float64) []strength {
	n := float64(len(b))
	mean, all := 0.0, 0.0
	rows := make([]float64, len(b))
	for i, x := range b {
		mean += x / n
		for _, c := range covariance[i] {
			rows[i] += c / n
		}
		all += rows[i] / n
	}
	out := make([]strength, len(b))
	for i, x := range b {
		out[i] = strength{value: x - mean, deviation: math.Sqrt(max(covariance[i][i]-2*rows[i]+all, 0))}
	}
	return out
}

// cholesky is the lower triangle l of a positive definite matrix, l lᵀ = a.
func cholesky(a [][]float64) [][]float64 {
	l := make([][]float64, len(a))
	for i := range a {
		l[i] = make([]float64, i+1)
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, math.SmallestNonzeroFloat32))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	return l
}

// solve gives x with a x = y.
func solve(a [][]float64, y []float64) []float64 { return substitute(cholesky(a), y) }

func substitute(l [][]float64, y []float64) []float64 {
	x := make([]float64, len(y))
	for i := range y {
		x[i] = y[i]
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := len(y) - 1; i >= 0; i-- {
		for k := i + 1; k < len(y); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

func invert(a [][]float64) [][]float64 {
	l := cholesky(a)
	inverse := make([][]float64, len(a))
	for i := range a {
		unit := make([]float64, len(a))
		unit[i] = 1
		inverse[i] = substitute(l, unit)
	}
	return inverse
}
