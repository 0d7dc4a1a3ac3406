//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"math"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// mixOf is a request of a mix of states that have read different things.
func mixOf(t *testing.T, e *infer.Engine, r infer.Request, weights ...float32) infer.Request {
	t.Helper()
	r.Weight, r.Members = weights[0], nil
	for i, w := range weights[1:] {
		read := finish(t, submit(t, e, infer.Request{Tokens: []int32{int32(40 + i), int32(9 * i)}, Logits: true}))
		r.Members = append(r.Members, infer.Member{Name: string(rune('a' + i)), Weight: w, State: read.Snapshot.State})
	}
	return r
}

// sameShares says that two streams had the same tokens, with what was told of them.
func sameShares(got, want *infer.Stream) bool {
	_, a := got.Read()
	_, b := want.Read()
	return slices.EqualFunc(a, b, func(a, b infer.Token) bool {
		return a.ID == b.ID && math.Abs(float64(a.LogProb-b.LogProb)) < 1e-4 && slices.EqualFunc(a.MemberLogprobs, b.MemberLogprobs, func(a, b float32) bool {
			return math.Abs(float64(a-b)) < 1e-4
		})
	})
}

// Mixes beside other requests draw on the device the tokens that they draw on the
// host, are told the same of them, and end with the same states and logits.
func TestMixEqualsHost(t *testing.T) {
	mixes := [][]float32{{1, 1}, {0.5, 0, 2}, {2, -0.5, 0.25, 0.1}}
	run := func(b infer.Backend) (streams []*infer.Stream, ends []infer.Ending) {
		e := startEngine(t, b)
		for i, r := range requests() {
			r.Top = 3 * (i % 2)
			if i%3 == 0 {
				r = mixOf(t, e, r, mixes[i/3%3]...)
			}
			streams = append(streams, submit(t, e, r))
		}
		for _, s := range streams {
			ends = append(ends, finish(t, s))
		}
		return streams, ends
	}
	got, gotEnds := run(loadFake(t, openFake(t), Options{Exempt: exemptTokens()}))
	want, wantEnds := run(scripted.New(model(), scripted.Options{}))
	for i := range got {
		g, w := gotEnds[i], wantEnds[i]
		if g.Err != nil || !slices.Equal(g.Tokens, w.Tokens) || !sameShares(got[i], want[i]) {
			t.Fatalf("request %d: %v (%v), want %v", i, g.Tokens, g.Err, w.Tokens)
		}
		for k, v := range g.Snapshot.Members {
			x := w.Snapshot.Members[k]
			if !slices.Equal(v.State[:4], x.State[:4]) || !slices.Equal(v.Logits, x.Logits) {
				t.Errorf("request %d: state %d of the snapshot differs", i, k)
			}
		}
	}
}

// A mix that is interrupted and gone on with has the tokens that it would have
// had, and a step of it sends no logits.
func TestMixResumes(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	e := startEngine(t, b)
	r := mixOf(t, e, infer.Request{Tokens: []int32{5, 6, 7}, Sampling: lively(8), MaxTokens: 40}, 1, 0.5, -0.2)
	whole := finish(t, submit(t, e, r))
	var pieces []int32
	for part := r; len(pieces) < len(whole.Tokens); {
		part.MaxTokens = min(9, len(whole.Tokens)-len(pieces))
		end := finish(t, submit(t, e, part))
		if end.Err != nil || len(end.Tokens) == 0 {
			t.Fatal(end.Reason, end.Err)
		}
		pieces = append(pieces, end.Tokens...)
		part.From, part.Tokens, part.Members = end.Snapshot, nil, nil
	}
	if !slices.Equal(pieces, whole.Tokens) {
		t.Errorf("in pieces %v, whole %v", pieces, whole.Tokens)
	}
	look := newSpy(t, l)
	rows := make([]row, look.rowCount(b.handle))
	look.rows(b.handle, &rows[0])
	if len(rows) != 3 || rows[0].members != 2 || rows[0].flags&rowDraw == 0 || rows[1].flags != rowLogits || rows[2].weight >= 0 {
		t.Errorf("the last step had the rows %+v", rows)
	}
}

// What the device cannot draw is drawn by the host, from the same mix.
func TestMixOnTheHost(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	limit := model().Tokenizer.Size()
	draw := func(s *sampler.Sampler) infer.Drawn {
		rows := []infer.Row{
			{Slot: 0, Tokens: []int32{3}, Sampler: s, Top: 4, Members: 1, Gate: 0.25},
			{Slot: 1, Tokens: []int32{4}, Gate: 0.75},
			{Slot: 2, Tokens: []int32{5}, Sampler: newSampler(lively(1))},
		}
		for i := range rows {
			if err := b.ZeroSlot(infer.Slot(i)); err != nil {
				t.Fatal(err)
			}
		}
		return step(t, b, rows...)[0]
	}
	p := sampler.Params{Temperature: 0.7, TopP: 1, Decay: 1, Seed: 6}
	onDevice, onHost := draw(sampler.New(limit, p)), draw(sampler.New(limit-1, p)) // of another size
	if onHost.Token != onDevice.Token || len(onHost.Top) != 4 || len(onHost.MemberLogprobs) != 2 || math.Abs(float64(onHost.MemberLogprobs[1]-onDevice.MemberLogprobs[1])) > 0.1 {
		t.Errorf("the host drew %+v, the device %+v", onHost, onDevice)
	}
	for _, v := range []int{2, 64, -1} {
		rows := []infer.Row{{Slot: 0, Tokens: []int32{3}, Sampler: newSampler(p), Members: v}, {Slot: 1, Tokens: []int32{4}}}
		if err := b.Step(rows, make([]infer.Drawn, 2)); err == nil {
			t.Errorf("a mix of %d more rows of 1 was taken", v)
		}
	}
}
