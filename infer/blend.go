package infer

import (
	"slices"
	"sync"

	"rookery/infer/sampler"
)

// A Blend draws for mixes on the host. Backends that are a Mixer draw by the same
// definition: the logits of a mix are
//
//	z = g_0·z_0, then for each further state whose gate is not 0, in order,
//	z = z + g_k·z_k
//
// in float32, where every product and every sum is rounded. The zero Blend is
// ready; its memory is used again.
type Blend struct {
	logits []float32
	sums   []float64 // of the softmax of each state, as logarithms
}

// Logits are those of a mix of at least one state. They hold until the next call.
func (b *Blend) Logits(gates []float32, states [][]float32) []float32 {
	n := len(states[0])
	b.logits = slices.Grow(b.logits[:0], n)[:n]
	setScaled(b.logits, states[0], gates[0])
	for k, g := range gates[1:] {
		if g != 0 {
			addScaled(b.logits, states[k+1], g)
		}
	}
	return b.logits
}

// Draw draws from a mix, with the top likeliest tokens.
func (b *Blend) Draw(s *sampler.Sampler, gates []float32, states [][]float32, top int) (d Drawn) {
	wait := b.weigh(s.Vocab(), states)
	defer wait()
	logits := b.Logits(gates, states)
	if top > 0 {
		d.Top = s.Top(logits, top)
	}
	d.Token, d.LogProb = s.Sample(logits)
	wait()
	d.MemberLogprobs = make([]float32, len(states))
	for k, z := range states {
		d.MemberLogprobs[k] = float32(float64(z[d.Token]) - b.sums[k])
	}
	return d
}

// weigh starts to sum up the softmax of each state, beside the drawing: the
// sums need no token. Ids from vocab up stand for none. wait is called before
// the sums are read.
func (b *Blend) weigh(vocab int, states [][]float32) (wait func()) {
	b.sums = slices.Grow(b.sums[:0], len(states))[:len(states)]
	var work sync.WaitGroup
	for k, z := range states {
		work.Go(func() { b.sums[k] = sampler.LogSum(z[:min(vocab, len(z))]) })
	}
	return work.Wait
}

// lanes is how many elements a turn of the loops below has: without bounds
// checks between them they take half the time.
const lanes = 8

// setScaled sets dst = g·x.
func setScaled(dst, x []float32, g float32) {
	x = x[:len(dst)]
	for len(dst) >= lanes {
		d, z := (*[lanes]float32)(dst), (*[lanes]float32)(x)
		d[0] = g * z[0]
		d[1] = g * z[1]
		d[2] = g * z[2]
		d[3] = g * z[3]
		d[4] = g * z[4]
		d[5] = g * z[5]
		d[6] = g * z[6]
		d[7] = g * z[7]
		dst, x = dst[lanes:], x[lanes:]
	}
	for i := range dst {
		dst[i] = g * x[i]
	}
}

// addScaled sets dst += g·x. The conversions keep processors that could from
// fusing the two operations.
func addScaled(dst, x []float32, g float32) {
	x = x[:len(dst)]
	for len(dst) >= lanes {
		d, z := (*[lanes]float32)(dst), (*[lanes]float32)(x)
		d[0] += float32(g * z[0])
		d[1] += float32(g * z[1])
		d[2] += float32(g * z[2])
		d[3] += float32(g * z[3])
		d[4] += float32(g * z[4])
		d[5] += float32(g * z[5])
		d[6] += float32(g * z[6])
		d[7] += float32(g * z[7])
		dst, x = dst[lanes:], x[lanes:]
	}
	for i := range dst {
		dst[i] += float32(g * x[i])
	}
}
