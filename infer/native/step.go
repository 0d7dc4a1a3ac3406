package native

import (
	"fmt"
	"math"
	"unsafe"

	"rookery/infer"
	"rookery/infer/sampler"
)

// A batch is one step as the library takes it. Its slices are reused.
type batch struct {
	rows       []row
	tokens     []int32
	bans       []int32
	results    []result
	candidates []candidate
	top        int // candidates of all rows
	bansEach   int // banned tokens that a row can have
}

// Step feeds every row's tokens to its slot and draws for rows with a Sampler.
func (b *Backend) Step(rows []infer.Row, drawn []infer.Drawn) error {
	if err := b.checkRows(rows, drawn); err != nil {
		return fmt.Errorf("step of %d rows: %w", len(rows), err)
	}
	if len(rows) == 0 {
		return nil
	}
	b.step.bansEach = bansMax / len(rows)
	for i := range rows {
		if err := b.synchronise(&rows[i]); err != nil {
			return err
		}
	}
	b.pack(rows)
	p := &b.step
	if len(rows) >= settlesBeside {
		b.settling.Go(func() { settle(rows) })
	}
	s := b.api.step(b.handle, unsafe.SliceData(p.rows), int32(len(p.rows)), unsafe.SliceData(p.tokens), int32(len(p.tokens)),
		unsafe.SliceData(p.bans), int32(len(p.bans)), unsafe.SliceData(p.results), unsafe.SliceData(p.candidates))
	b.settling.Wait()
	if err := b.check(s, fmt.Sprintf("step of %d rows", len(rows))); err != nil {
		for i := range rows {
			b.slots[rows[i].Slot] = slot{} // nobody knows what the device has counted
		}
		return err
	}
	return b.unpack(rows, drawn)
}

// settlesBeside is from how many rows on their samplers settle while the device works:
// with fewer there is less to do than another goroutine costs.
const settlesBeside = 64

func settle(rows []infer.Row) {
	for i := range rows {
		if s := rows[i].Sampler; s != nil {
			s.Settle()
		}
	}
}

// checkRows checks what memory is indexed by here or written to by the
// library; it checks the rest itself before it changes anything.
func (b *Backend) checkRows(rows []infer.Row, drawn []infer.Drawn) error {
	if len(drawn) != len(rows) {
		return fmt.Errorf("room for %d results", len(drawn))
	}
	for i := range rows {
		if err := b.checkSlot(rows[i].Slot); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if v := rows[i].Members; v < 0 || v > min(membersMax, len(rows)-1-i) {
			return fmt.Errorf("row %d: a mix with %d more of %d rows", i, v, len(rows)-1-i)
		}
		if n := len(rows[i].Logits); rows[i].Logits != nil && n != b.shape.Vocab {
			return fmt.Errorf("row %d: room for %d logits where the model has %d", i, n, b.shape.Vocab)
		}
	}
	return nil
}

// pack makes the library's rows.
func (b *Backend) pack(rows []infer.Row) {
	p := &b.step
	p.rows, p.tokens, p.bans, p.top = p.rows[:0], p.tokens[:0], p.bans[:0], 0
	members := 0 // rows to come that are
	for i := range rows {
		out := b.packRow(&rows[i])
		if members > 0 {
			out.flags |= rowLogits
			members--
		}
		if rows[i].Sampler != nil {
			members = rows[i].Members
		}
		p.rows = append(p.rows, out)
		p.tokens = append(p.tokens, rows[i].Tokens...)
	}
	p.results = grown(p.results, len(rows))
	p.candidates = grown(p.candidates, p.top)
}

func (b *Backend) packRow(r *infer.Row) row {
	p := &b.step
	out := row{slot: int32(r.Slot), tokenOffset: int32(len(p.tokens)), tokenCount: int32(len(r.Tokens)), banOffset: int32(len(p.bans)), weight: r.Gate, adapter: int32(r.Adapter)}
	if r.Logits != nil || r.Sampler != nil {
		out.flags |= rowLogits
	}
	if !b.draws(r) {
		return out
	}
	s := r.Sampler
	e := s.Effective()
	out.flags |= rowDraw
	if counts(e) {
		out.flags |= rowObserve
	}
	out.top = int32(max(r.Top, 0))
	p.top += int(out.top)
	for _, id := range e.Ban {
		if int(id) < b.limit {
			p.bans = append(p.bans, id)
		}
	}
	out.banCount = int32(len(p.bans)) - out.banOffset
	out.mode, out.topK = int32(e.Mode), int32(min(e.TopK, math.MaxInt32))
	out.temperature, out.topP = e.Temperature, e.TopP
	out.presence, out.frequency, out.decay = e.Presence, e.Frequency, e.Decay
	out.seed, out.draw = e.Seed, s.Draws()
	out.members = int32(r.Members)
	return out
}

// draws says whether the device draws for a row. Where it cannot do what is
// asked, the host draws from the row's logits.
func (b *Backend) draws(r *infer.Row) bool {
	return r.Sampler != nil && r.Sampler.Vocab() == b.limit && !r.Sampler.NeedsHost() && r.Top <= topMax && len(r.Sampler.Effective().Ban) <= b.step.bansEach
}

// unpack hands out what the step returned.
func (b *Backend) unpack(rows []infer.Row, drawn []infer.Drawn) error {
	rest := b.step.candidates
	for i := range rows {
		r := &rows[i]
		if b.draws(r) {
			top := int(b.step.rows[i].top)
			drawn[i] = b.take(r, b.step.results[i:i+1+r.Members], rest[:top])
			rest = rest[top:]
		}
		if err := b.readLogits(i, r, &drawn[i]); err != nil {
			return err
		}
	}
	return nil
}

// take is what the device drew for a row. results begin with its own; those of
// the other rows of a mix follow.
func (b *Backend) take(r *infer.Row, results []result, top []candidate) infer.Drawn {
	got := results[0]
	d := infer.Drawn{Token: got.token, LogProb: got.logProb}
	if got.flags&resultNaN != 0 {
		d.LogProb = float32(math.NaN())
	}
	top = top[:min(max(int(got.candidates), 0), len(top))]
	if len(top) > 0 {
		d.Top = make([]sampler.Candidate, len(top))
	}
	for i, c := range top {
		d.Top[i] = sampler.Candidate{Token: c.token, LogProb: c.logProb, Prob: c.prob}
	}
	if r.Members > 0 {
		d.MemberLogprobs = make([]float32, len(results))
		for k := range results {
			d.MemberLogprobs[k] = results[k].ownLogProb
		}
	}
	r.Sampler.Skip(1)
	b.observed(r, got.token)
	return d
}

// ReadLogits copies the logits of a row of the last step that had a Sampler.
func (b *Backend) ReadLogits(row int, dst []float32) error {
	if row < 0 || row >= len(b.step.rows) || len(dst) != b.shape.Vocab {
		return fmt.Errorf("read %d logits of row %d: the last step had %d rows of %d", len(dst), row, len(b.step.rows), b.shape.Vocab)
	}
	return b.check(b.api.readLogits(b.handle, int32(row), unsafe.SliceData(dst)), "read logits")
}

// drawMix draws on the host for the mix that begins with row number i.
func (b *Backend) drawMix(i int, r *infer.Row) (infer.Drawn, error) {
	gates, states := make([]float32, 1+r.Members), make([][]float32, 1+r.Members)
	for k := range states {
		gates[k], states[k] = b.step.rows[i+k].weight, make([]float32, b.shape.Vocab)
		if err := b.ReadLogits(i+k, states[k]); err != nil {
			return infer.Drawn{}, err
		}
	}
	return b.blend.Draw(r.Sampler, gates, states, r.Top), nil
}

// readLogits copies the logits of row number i where they are wanted, and draws
// from them where the device did not.
func (b *Backend) readLogits(i int, r *infer.Row, d *infer.Drawn) error {
	onHost := r.Sampler != nil && !b.draws(r)
	logits := r.Logits
	if logits == nil {
		if !onHost {
			return nil
		}
		b.logits = grown(b.logits, b.shape.Vocab)
		logits = b.logits
	}
	if err := b.ReadLogits(i, logits); err != nil {
		return err
	}
	if !onHost {
		return nil
	}
	if r.Members > 0 {
		var err error
		*d, err = b.drawMix(i, r)
		return err
	}
	d.Top = nil
	if r.Top > 0 {
		d.Top = r.Sampler.Top(logits, r.Top)
	}
	d.Token, d.LogProb = r.Sampler.Sample(logits)
	return nil
}
