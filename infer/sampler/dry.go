package sampler

import (
	"math"
	"strings"
)

// maxRecent is how many tokens of the answer DRY looks back over.
const maxRecent = 2048

// Recall tells the sampler of a token of this answer that was drawn before, for
// DRY alone: Restore brings the counts of the other penalties.
func (s *Sampler) Recall(token int32) {
	if len(s.recent) >= 2*maxRecent {
		s.recent = s.recent[:copy(s.recent, s.recent[maxRecent:])]
	}
	s.recent = append(s.recent, token)
}

// repetitions are the tokens that would go on with a repetition, each with the
// length of the longest one: of the end of the answer with an earlier part of
// it. No repetition goes over a token that Breaks.
func (s *Sampler) repetitions() map[int32]int {
	recent := s.recent[max(0, len(s.recent)-maxRecent):]
	n := len(recent)
	breaks := func(token int32) bool { return s.Breaks != nil && s.Breaks(token) }
	longest := 0 // what can be repeated ends at a break
	for longest < n && !breaks(recent[n-1-longest]) {
		longest++
	}
	if longest == 0 {
		return nil
	}
	found := map[int32]int{}
	// same[i] is how long the end of the answer and the part before the token
	// n-1-i are the same: the Z function of the answer read backwards.
	same := make([]int, n)
	left, right := 0, 0
	for i := 1; i < n; i++ {
		if i < right {
			same[i] = min(right-i, same[i-left])
		}
		for i+same[i] < n && recent[n-1-same[i]] == recent[n-1-i-same[i]] {
			same[i]++
		}
		if i+same[i] > right {
			left, right = i, i+same[i]
		}
		next := recent[n-i] // came after that part
		if length := min(same[i], longest); length > 0 && !breaks(next) {
			found[next] = max(found[next], length)
		}
	}
	return found
}

// dryPenalty is what the logit of a token loses that goes on with a repetition.
func dryPenalty(p Params, length int) float32 {
	if length < p.DRYLength {
		return 0
	}
	penalty := float64(p.DRY) * math.Pow(float64(p.DRYBase), float64(length-p.DRYLength))
	return float32(min(penalty, math.MaxFloat32))
}

// BreaksRepetition says whether a token with this text ends what DRY looks at:
// one with a new line, a colon, a quote or an asterisk.
func BreaksRepetition(text []byte) bool { return strings.ContainsAny(string(text), "\n:\"*") }
