package infer

import (
	"slices"
	"sync"

	"rookery/infer/sampler"
)

// A Blend draws for mixes on the host. A backend that is a Mixer draws by the same
// definition. With normalised weights g, the logits of a mix are
//
//	z = g_0·z_0, then for each member k whose g_k is not 0, in order,
//	z = z + g_k·z_k
//
// in float32, with every product and every sum rounded. The zero Blend is ready.
// It reuses its memory.
type Blend struct {
	logits []float32
	sums   []float64 // logarithm of the softmax sum of each state
}

// Logits are the combined logits of one state or more. They are valid until the
// next call.
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

// Draw draws a token from a mix and lists the top likeliest ones.
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

// weigh starts to compute the logarithm of the softmax sum of each state, while the
// token is drawn. Ids from vocab up have no token and do not count. The caller
// calls wait before it reads the sums.
func (b *Blend) weigh(vocab int, states [][]float32) (wait func()) {
	b.sums = slices.Grow(b.sums[:0], len(states))[:len(states)]
	var work sync.WaitGroup
	for k, z := range states {
		work.Go(func() { b.sums[k] = sampler.LogSum(z[:min(vocab, len(z))]) })
	}
	return work.Wait
}

// lanes is how many elements one turn of the loops below computes. Without bounds
// checks between them the loops take half the time.
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

// addScaled sets dst += g·x. The conversions keep the compiler from fusing the two
// operations.
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
