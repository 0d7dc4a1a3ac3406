package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// normEps is the epsilon of all layer norms but that of the heads.
const normEps = 1e-5

// A layerBase is what the layers of all versions have: the norms and the channel
// mix. C is Embed, F is FFN.
type layerBase struct {
	ln1, ln2 norm
	ffn      channelMix
}

// A channelMix is the feed-forward part of a layer.
type channelMix struct {
	mixK, mixR []float32      // token-shift mixes [C]; mixR with receptance
	key        *kernel.Matrix // [F, C]
	value      *kernel.Matrix // [C, F]
	receptance *kernel.Matrix // [C, C]; versions before 7
}

func (l *layerBase) base() *layerBase { return l }

// prepare has nothing to do.
func (l *layerBase) prepare(rwkv.Shape) {}

// basePlaces are the places that have the same names in all versions.
func (l *layerBase) basePlaces() places {
	return places{
		"ln1.weight": &l.ln1.weight, "ln1.bias": &l.ln1.bias, "ln2.weight": &l.ln2.weight, "ln2.bias": &l.ln2.bias,
		"ffn.key.weight": &l.ffn.key, ffnValueName: &l.ffn.value,
	}
}

// blocks are what the programs of all versions have in common: batches, norms,
// token shift, the channel mix and the places of a state's parts.
type blocks struct {
	*runner
	// blended says that a mix is the part of the token itself, as before version 6:
	// x⊙mix + prev⊙(1-mix). Since then it is that of the token before.
	blended bool
	ffn     ffnBatches
	bodies  blockBodies
	at      stateLayout
	// Experts of an adapter change h: have says whether any do in the current layer,
	// run makes h, and squared says that a token's is made. All are nil without.
	experts struct {
		have    func() bool
		run     func()
		squared func(token int) bool
	}

	// DeepEmbed's branch, nil in other versions: queueDeep queues products of the channel
	// mix's input beside that of the key, scaleDeep scales h.
	queueDeep, scaleDeep func()

	arena *kernel.Arena
	all   []*kernel.Batch // of tokens
	err   error           // the first error of making them
}

// ffnBatches are the batches of the channel mix, beside those of the runner. They
// belong to the version.
type ffnBatches struct {
	in     *kernel.Batch // [tokens, C] of the key
	hidden *kernel.Batch // [tokens, F]
	gateIn *kernel.Batch // [tokens, C] of the receptance; nil: the version has none
	gate   *kernel.Batch // [tokens, C] its output
}

// blockBodies are the bodies of parallel regions, made once.
type blockBodies struct {
	norm1, norm2, shiftFFN              func(i int)
	relu2, sigmoidFFN, residual, addFFN func(lo, hi int)
}

// A stateLayout is where the parts of a layer begin in a state, and how many values
// a layer has.
type stateLayout struct{ att, ffn, wkv, layer int }

func newBlocks(r *runner, arena *kernel.Arena) *blocks {
	b := &blocks{runner: r, arena: arena, at: stateLayoutOf(r.model.shape)}
	b.bodies = blockBodies{
		norm1: b.normAtt, norm2: b.normFFN, shiftFFN: b.shiftFFN,
		relu2: b.squareHidden, sigmoidFFN: b.sigmoidFFN, residual: b.addResidual, addFFN: b.addGated,
	}
	return b
}

func stateLayoutOf(s rwkv.Shape) stateLayout {
	begin := func(part string) int {
		first, _ := s.StatePart(0, part)
		return first
	}
	return stateLayout{begin(rwkv.PartAttShift), begin(rwkv.PartFFNShift), begin(rwkv.PartWKV), s.LayerStateLen()}
}

// batch makes a batch of tokens. The first error stays.
func (b *blocks) batch(cols int, quantised bool) *kernel.Batch {
	out, err := kernel.NewBatch(b.arena, maxTokens, cols, quantised)
	if err != nil && b.err == nil {
		b.err = err
	}
	b.all = append(b.all, out)
	return out
}

// input makes a batch of C columns that large matrices read.
func (b *blocks) input() *kernel.Batch {
	return b.batch(b.model.shape.Embed, b.model.typ == kernel.Q8)
}

// wide makes a batch of C columns that no large matrix reads.
func (b *blocks) wide() *kernel.Batch { return b.batch(b.model.shape.Embed, false) }

func (b *blocks) resize(tokens int) {
	for _, x := range b.all {
		x.Resize(tokens)
	}
}

func (b *blocks) reserveFor(*variant) error { return nil }

func (b *blocks) close() error { return nil }

// variantLayer is the current layer as a token's variant has it.
func (b *blocks) variantLayer(token int) layer { return b.spans[b.owner[token]].layers[b.layer] }

func (b *blocks) normAtt(chunk int) { b.normTokens(chunk, func(l *layerBase) *norm { return &l.ln1 }) }

func (b *blocks) normFFN(chunk int) { b.normTokens(chunk, func(l *layerBase) *norm { return &l.ln2 }) }

// normTokens sets xn = LN(x) for a chunk of tokens.
func (b *blocks) normTokens(chunk int, of func(*layerBase) *norm) {
	lo, hi := b.chunk(chunk)
	for t := lo; t < hi; t++ {
		ln := of(b.variantLayer(t).base())
		b.path.LayerNorm(b.act.xn.Row(t), b.act.x.Row(t), ln.weight, ln.bias, normEps)
	}
}

// A layerState is one layer's part of a state.
type layerState struct {
	att, ffn []float32 // [C] token shifts
	wkv      []float32 // the rest
}

// stateOf cuts the current layer's part out of a state.
func (b *blocks) stateOf(state []float32) layerState {
	c, l := b.model.shape.Embed, state[b.layer*b.at.layer:(b.layer+1)*b.at.layer]
	return layerState{att: l[b.at.att : b.at.att+c], ffn: l[b.at.ffn : b.at.ffn+c], wkv: l[b.at.wkv:]}
}

func (l layerState) head(h, size int) []float32 {
	return l.wkv[h*size*size : (h+1)*size*size]
}

// previous is what the token shift of token t reads: the token before it in its row, or
// the state.
func (b *blocks) previous(t int) layerState {
	s := &b.spans[b.owner[t]]
	if t == s.first {
		return b.stateOf(s.state)
	}
	before := b.act.xn.Row(t - 1)
	return layerState{att: before, ffn: before}
}

// keepAttShift puts each row's last input of the time mix into its state.
func (b *blocks) keepAttShift() {
	for _, s := range b.spans {
		copy(b.stateOf(s.state).att, b.act.xn.Row(s.last-1))
	}
}

// quantiseHead makes the int8 form of a head's output y for a row's tokens, and
// finishHeads of all heads where they share blocks. In the last layer the latter drops
// the tokens that nothing depends on any more.
func (b *blocks) quantiseHead(y *kernel.Batch, head int, s *span) {
	size := b.model.shape.HeadSize
	if !y.Quantised() || size%kernel.BlockSize != 0 {
		return
	}
	for t := s.first; t < s.last; t++ {
		b.path.Quantise(y, t, head*size, (head+1)*size)
	}
}

func (b *blocks) finishHeads(y *kernel.Batch) {
	if y.Quantised() && b.model.shape.HeadSize%kernel.BlockSize != 0 {
		for t := range b.tokens {
			b.quantise(y, t)
		}
	}
	if b.layer == len(b.model.layers)-1 {
		b.keepLast(y)
	}
}

// shift sets dst to the token shift of x.
func (b *blocks) shift(dst, x, prev, mix []float32) {
	if b.blended {
		x, prev = prev, x
	}
	b.path.Shift(dst, x, prev, mix)
}

// runChannelMix adds the feed-forward part of the current layer to the residual
// stream:
//
//	xn = LN(x; ln2);  xk, xr = shift(xn);  h = relu²(Wk·xk)
//	x += σ(Wr·xr) ⊙ Wv·h                 (RWKV-7: x += Wv·h)
//
// Most of h is zero, so decoding leaves most of Wv unread.
func (b *blocks) runChannelMix() {
	b.eachToken(b.bodies.norm2)
	b.eachToken(b.bodies.shiftFFN)
	for _, s := range b.spans {
		copy(b.stateOf(s.state).ffn, b.act.xn.Row(s.last-1))
	}
	b.reshapeInputs(reshape{adapter.FFNKey, b.ffn.in})
	if b.ffn.gateIn != nil {
		b.reshapeInputs(reshape{adapter.FFNReceptance, b.ffn.gateIn})
	}
	b.computeKey()
	if b.scaleDeep != nil {
		b.scaleDeep()
	}
	b.reshapeInputs(reshape{adapter.FFNValue, b.ffn.hidden})
	b.computeValue()
}

// shiftFFN makes the shifted inputs for a chunk of tokens.
func (b *blocks) shiftFFN(chunk int) {
	f := &b.ffn
	lo, hi := b.chunk(chunk)
	for t := lo; t < hi; t++ {
		ffn, x, prev := &b.variantLayer(t).base().ffn, b.act.xn.Row(t), b.previous(t).ffn
		b.shift(f.in.Row(t), x, prev, ffn.mixK)
		b.quantise(f.in, t)
		if f.gateIn != nil {
			b.shift(f.gateIn.Row(t), x, prev, ffn.mixR)
			b.quantise(f.gateIn, t)
		}
	}
}

func ffnKey(l layer) *kernel.Matrix        { return l.base().ffn.key }
func ffnValue(l layer) *kernel.Matrix      { return l.base().ffn.value }
func ffnReceptance(l layer) *kernel.Matrix { return l.base().ffn.receptance }

// computeKey makes h and the gate. Adapters change the products before the functions
// that follow.
func (b *blocks) computeKey() {
	f := &b.ffn
	haveExperts := b.experts.have != nil && b.experts.have()
	relu2, sigmoid := b.bodies.relu2, b.bodies.sigmoidFFN
	late := haveExperts || b.changesProduct(adapter.FFNKey, adapter.FFNReceptance)
	if late {
		relu2, sigmoid = nil, nil
	}
	b.queueProduct(ffnKey, f.in, f.hidden, relu2)
	b.queueDown(adapter.FFNKey, f.in)
	if b.queueDeep != nil {
		b.queueDeep()
	}
	if f.gateIn != nil {
		b.queueProduct(ffnReceptance, f.gateIn, f.gate, sigmoid)
		b.queueDown(adapter.FFNReceptance, f.gateIn)
	}
	b.runQueue()
	if !late {
		return
	}
	b.queueUp(adapter.FFNKey, f.hidden)
	if f.gateIn != nil {
		b.queueUp(adapter.FFNReceptance, f.gate)
	}
	b.runQueue()
	if haveExperts {
		b.experts.run()
	}
	b.queue.followUps = append(b.queue.followUps, followUp{b.bodies.relu2, f.hidden.Cols()})
	if f.gateIn != nil {
		b.queue.followUps = append(b.queue.followUps, followUp{b.bodies.sigmoidFFN, f.gate.Cols()})
	}
	b.runQueue()
}

// computeValue adds Wv·h, gated where the version has a gate, to the residual stream.
// An adapter's change of the product comes before the gate.
func (b *blocks) computeValue() {
	a, q, hidden := &b.act, &b.queue, b.ffn.hidden
	add, changed := b.bodies.residual, a.x
	late := !b.haveSame(ffnValue)
	if b.ffn.gate != nil {
		add, changed = b.bodies.addFFN, a.xn
		late = late || b.changesProduct(adapter.FFNValue)
	}
	if late {
		for _, g := range b.groups {
			b.read += b.sparse.Multiply(kernel.Product{
				W: ffnValue(g.layers[b.layer]), X: q.window(hidden, g.first, g.last, hidden.Cols()), Y: q.window(a.xn, g.first, g.last, a.xn.Cols()),
			})
		}
	} else {
		b.read += b.sparse.Multiply(kernel.Product{W: ffnValue(b.groups[0].layers[b.layer]), X: hidden, Y: a.xn, Then: add})
	}
	if late && b.ffn.gate == nil {
		q.followUps = append(q.followUps, followUp{add, a.xn.Cols()})
	}
	b.queueDown(adapter.FFNValue, hidden)
	b.runQueue()
	b.queueUp(adapter.FFNValue, changed)
	if late && b.ffn.gate != nil {
		b.runQueue()
		q.followUps = append(q.followUps, followUp{add, a.xn.Cols()})
	}
	b.runQueue()
}

// squareHidden applies relu² and makes the int8 form of the result.
func (b *blocks) squareHidden(lo, hi int) {
	h := b.ffn.hidden
	for t := range b.tokens {
		v := h.Row(t)[lo:hi]
		if !b.adapted || b.experts.squared == nil || !b.experts.squared(t) {
			b.path.SquaredReLU(v, v)
		}
		if h.Quantised() {
			b.path.Quantise(h, t, lo, hi)
		}
	}
}

// sigmoidFFN is the function of the channel mix's gate.
func (b *blocks) sigmoidFFN(lo, hi int) {
	for t := range b.tokens {
		v := b.ffn.gate.Row(t)[lo:hi]
		b.path.Sigmoid(v, v)
	}
}

// addResidual adds a block's output to the residual stream, addGated the channel
// mix's with its gate.
func (b *blocks) addResidual(lo, hi int) {
	for t := range b.tokens {
		b.path.Add(b.act.x.Row(t)[lo:hi], b.act.xn.Row(t)[lo:hi])
	}
}

func (b *blocks) addGated(lo, hi int) {
	for t := range b.tokens {
		b.path.AddGated(b.act.x.Row(t)[lo:hi], b.act.xn.Row(t)[lo:hi], b.ffn.gate.Row(t)[lo:hi])
	}
}
