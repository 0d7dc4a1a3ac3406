package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"rookery/infer/sampler"
)

// mixedSequence is one with the logits of k states over a vocabulary.
func mixedSequence(k, vocab int, r *rand.Rand) *sequence {
	random := func() []float32 {
		z := make([]float32, vocab)
		for i := range z {
			z[i] = float32(r.NormFloat64() * 3)
		}
		return z
	}
	q := &sequence{logits: random(), mix: &mix{weight: 1}}
	for range k - 1 {
		q.mix.members = append(q.mix.members, member{Member: Member{Weight: float32(r.Float64()*2 - 0.2)}, logits: random()})
	}
	return q
}

// The combined logits are the definition's, and the shares those of a softmax
// in float64, at lengths that no vector divides.
func TestMixedLogits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, vocab := range []int{1, 7, 64, 1000, 4096, 65536} {
		for _, k := range []int{2, 3, 8} {
			q := mixedSequence(k, vocab, r)
			q.mix.members[k-2].Weight = 0
			got := q.combineLogits()
			all, sum := [][]float32{q.logits}, float64(q.mix.weight)
			weights := []float64{float64(q.mix.weight)}
			for _, v := range q.mix.members {
				all, weights, sum = append(all, v.logits), append(weights, float64(v.Weight)), sum+float64(v.Weight)
			}
			for i := range got {
				want := 0.0
				for j := range all {
					want += weights[j] / sum * float64(all[j][i])
				}
				if math.Abs(float64(got[i])-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("%d states, token %d of %d: %v, want %v", k, i, vocab, got[i], want)
				}
			}
			token := int32(r.IntN(vocab))
			for j, z := range all {
				norm := 0.0
				for _, v := range z {
					norm += math.Exp(float64(v))
				}
				want := float64(z[token]) - math.Log(norm)
				if got := float64(sampler.LogProb(z, token)); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("state %d, vocabulary %d: log-probability %v, want %v", j, vocab, got, want)
				}
			}
		}
	}
}

// What a mix costs beside the step: combining, drawing and the shares.
func BenchmarkMixDraw(b *testing.B) {
	const vocab = 65536
	for _, k := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("%d states", k), func(b *testing.B) {
			q := mixedSequence(k, vocab, rand.New(rand.NewPCG(1, 2)))
			q.sampler = sampler.New(vocab, sampler.Params{Temperature: 1, TopP: 0.9})
			if k == 1 {
				q.mix = nil
			}
			for b.Loop() {
				if _, err := q.drawToken(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
