//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

func newSampler(p sampler.Params) *sampler.Sampler {
	return sampler.New(model().Tokenizer.Size(), p)
}

// lively draws from the whole distribution, with penalties that remember. The
// fake library does not truncate.
func lively(seed uint64) sampler.Params {
	return sampler.Params{Temperature: 0.9, TopP: 1, Presence: 0.3, Frequency: 0.2, Decay: 0.97, Seed: seed, Ban: []int32{0}}
}

// Rows of all kinds in one step arrive as they were meant.
func TestStepSendsRows(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	look := newSpy(t, l)
	limit := int32(model().Tokenizer.Size())

	full := newSampler(sampler.Params{
		Mode: sampler.ModeRapid, Temperature: 0.5, TopK: 40, TopP: 0.25, Presence: 0.125, Frequency: 0.75, Decay: 0.5,
		Seed: 1<<63 + 5, Ban: []int32{7, 3, 7, limit, 5000},
	})
	full.Skip(1 << 40)
	plain := newSampler(sampler.Params{Temperature: 1, TopP: 1, Decay: 1, Seed: 2, Ban: []int32{9}})
	pip := newSampler(sampler.Params{Mode: sampler.ModePip, TopP: 0.3, Decay: 1})
	wrong := newSampler(sampler.Params{Temperature: float32(math.NaN()), Mode: sampler.ModePip, Presence: 1})
	step(t, b,
		infer.Row{Slot: 3, Tokens: []int32{10, 11, 12}},
		infer.Row{Slot: 0, Tokens: []int32{20}, Sampler: full, Top: 5},
		infer.Row{Slot: 7, Tokens: []int32{30, 31}, Logits: make([]float32, 320)},
		infer.Row{Slot: 1, Tokens: []int32{40}, Sampler: plain, Logits: make([]float32, 320)},
		infer.Row{Slot: 2, Tokens: []int32{50}, Sampler: pip, Top: 1},
		infer.Row{Slot: 4, Tokens: []int32{60}, Sampler: wrong},
	)
	want := []row{
		{slot: 3, tokenOffset: 0, tokenCount: 3},
		{
			slot: 0, tokenOffset: 3, tokenCount: 1, flags: rowDraw | rowObserve | rowLogits, top: 5, banOffset: 0, banCount: 2, mode: 2,
			temperature: 0.5, topK: 40, topP: 0.25, presence: 0.125, frequency: 0.75, decay: 0.5, seed: 1<<63 + 5, draw: 1 << 40,
		},
		{slot: 7, tokenOffset: 4, tokenCount: 2, flags: rowLogits, banOffset: 2},
		{slot: 1, tokenOffset: 6, tokenCount: 1, flags: rowDraw | rowLogits, banOffset: 2, banCount: 1, temperature: 1, topP: 1, decay: 1, seed: 2},
		{slot: 2, tokenOffset: 7, tokenCount: 1, flags: rowDraw | rowLogits, top: 1, banOffset: 3, mode: 1, temperature: 1, decay: 1},
		{slot: 4, tokenOffset: 8, tokenCount: 1, flags: rowDraw | rowLogits, banOffset: 3},
	}
	got := make([]row, look.rowCount(b.handle))
	look.rows(b.handle, &got[0])
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	for i, id := range []int32{10, 11, 12, 20, 30, 31, 40, 50, 60} {
		if got := look.token(b.handle, int32(i)); got != id {
			t.Errorf("token %d is %d, want %d", i, got, id)
		}
	}
	for i, id := range []int32{3, 7, 9} {
		if got := look.ban(b.handle, int32(i)); got != id {
			t.Errorf("ban %d is %d, want %d", i, got, id)
		}
	}
	if full.Draws() != 1<<40+1 || plain.Draws() != 1 {
		t.Errorf("the samplers are at draws %d and %d", full.Draws(), plain.Draws())
	}
}

// A parameter that is changed either arrives at the device or lets the host draw.
func TestNoParameterIsLost(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	look := newSpy(t, l)
	for _, f := range sampler.Fields {
		base := lively(1)
		if f.Idle != nil && f.Idle(base) { // without what it belongs to
			base.XTC, base.DRY = 0.5, 1
		}
		changed := base
		switch f.Kind() {
		case sampler.Tokens:
			changed.Ban = []int32{1}
		case sampler.Chosen:
			changed.Mode = sampler.ModeRapid
		case sampler.Stream:
			changed.Seed++
		case sampler.Biased:
			changed.Bias = sampler.Biases{{Token: 1, Add: 1}}
		default:
			f.SetNumber(&changed, f.Number(base)/2+f.Slider.Fine)
		}
		step(t, b,
			infer.Row{Slot: 0, Tokens: []int32{1}, Sampler: newSampler(base)},
			infer.Row{Slot: 1, Tokens: []int32{1}, Sampler: newSampler(changed)},
		)
		rows := make([]row, look.rowCount(b.handle))
		look.rows(b.handle, &rows[0])
		sent := rows[1]
		sent.slot, sent.tokenOffset, sent.banOffset = rows[0].slot, rows[0].tokenOffset, rows[0].banOffset
		arrived := sent != rows[0] || f.Kind() == sampler.Tokens && look.ban(b.handle, 1) == 1
		if onHost := rows[1].flags&rowDraw == 0; onHost != f.HostOnly || !arrived && !f.HostOnly {
			t.Errorf("%s: drawn on the host %v, sent %+v", f.Name, onHost, sent)
		}
	}
}

// The same rows on the fake library and on infer/scripted, whose model it has
// and which draws on the host.
func TestStepEqualsHost(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	ref := scripted.New(model(), scripted.Options{MaxTokens: 4096})
	params := []sampler.Params{
		lively(1),
		{TopP: 1, Presence: 0.9, Decay: 0.5}, // greedy
		{Mode: sampler.ModeRapid, Temperature: 2, TopP: 1, Presence: 1, Frequency: 0.5, Decay: 0.9, Seed: 3},
		{Mode: sampler.ModePip, Temperature: 1, TopP: 1, Presence: 0.5, Frequency: 1, Decay: 1, Seed: 4},
		{Temperature: 1, TopP: 1, Decay: 1, Seed: 5},
	}
	here, there := make([]infer.Row, len(params)), make([]infer.Row, len(params))
	for i, p := range params {
		here[i] = infer.Row{Slot: infer.Slot(i), Sampler: newSampler(p), Top: i, Logits: make([]float32, 320), Tokens: []int32{int32(i), 5}}
		there[i] = infer.Row{Slot: infer.Slot(i), Sampler: newSampler(p), Top: i, Logits: make([]float32, 320), Tokens: []int32{int32(i), 5}}
		if err := errors.Join(b.ZeroSlot(here[i].Slot), ref.ZeroSlot(here[i].Slot)); err != nil {
			t.Fatal(err)
		}
	}
	near := cmp.Options{cmpopts.EquateApprox(1e-4, 1e-5)}
	for n := range 40 {
		got, want := step(t, b, there...), step(t, ref, here...)
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Fatalf("step %d (-host +device):\n%s", n, diff)
		}
		for i := range here {
			if !slices.Equal(here[i].Logits, there[i].Logits) {
				t.Fatalf("step %d: the logits of row %d differ", n, i)
			}
			for _, r := range []infer.Row{here[i], there[i]} {
				r.Sampler.Observe(want[i].Token)
			}
			here[i].Tokens = []int32{want[i].Token}
			there[i].Tokens = []int32{want[i].Token}
		}
	}
	if diff := cmp.Diff(here[2].Sampler.Memory(), there[2].Sampler.Memory()); diff != "" {
		t.Error(diff)
	}
}

// What the device cannot draw, the host draws from its logits.
func TestStepDrawsOnTheHost(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	ref := scripted.New(model(), scripted.Options{})
	banning := lively(5)
	for id := range int32(bansMax/5 + 1) {
		banning.Ban = append(banning.Ban, id+100)
	}
	rows := func() []infer.Row {
		return []infer.Row{
			{Slot: 0, Tokens: []int32{1}, Sampler: sampler.New(100, lively(1)), Top: 2},                                    // another vocabulary
			{Slot: 1, Tokens: []int32{2}, Sampler: newSampler(lively(2)), Top: topMax + 20},                                // more candidates than a row has
			{Slot: 2, Tokens: []int32{3}, Sampler: sampler.New(10, sampler.Params{TopP: 1}), Logits: make([]float32, 320)}, // its logits are asked for
			{Slot: 3, Tokens: []int32{4}, Sampler: newSampler(lively(3)), Top: 1},
			{Slot: 4, Tokens: []int32{5}, Sampler: newSampler(banning)}, // more bans than a step has room for
		}
	}
	for i := range 5 {
		if err := errors.Join(b.ZeroSlot(infer.Slot(i)), ref.ZeroSlot(infer.Slot(i))); err != nil {
			t.Fatal(err)
		}
	}
	here, there := rows(), rows()
	for range 3 {
		if diff := cmp.Diff(step(t, ref, here...), step(t, b, there...), cmpopts.EquateApprox(1e-4, 1e-5)); diff != "" {
			t.Errorf("(-host +device):\n%s", diff)
		}
	}
	if here[0].Sampler.Draws() != 3 || there[0].Sampler.Draws() != 3 {
		t.Error("the random streams are not where they should be")
	}
}

// The logits of a step stay on the device until the next one.
func TestReadLogits(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	want, got := make([]float32, 320), make([]float32, 320)
	wantError(t, b.ReadLogits(0, got), "0 rows")
	step(t, b,
		infer.Row{Slot: 0, Tokens: []int32{1}},
		infer.Row{Slot: 1, Tokens: []int32{2}, Sampler: newSampler(lively(1)), Logits: want},
		infer.Row{Slot: 2, Tokens: []int32{2}, Sampler: newSampler(lively(2))},
		infer.Row{Slot: 3, Tokens: []int32{2}, Sampler: sampler.New(7, lively(3))}, // drawn on the host
	)
	for row := 1; row < 4; row++ {
		clear(got)
		if err := b.ReadLogits(row, got); err != nil || !slices.Equal(got, want) {
			t.Errorf("row %d has other logits (%v)", row, err)
		}
	}
	wantError(t, b.ReadLogits(0, got), "row 0")
	wantError(t, b.ReadLogits(4, got), "row 4")
	wantError(t, b.ReadLogits(1, got[1:]), "319 logits")
}

func TestStepRefuses(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	before := make([]float32, model().Shape.StateLen())
	if err := b.ReadSlot(0, before); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		rows []infer.Row
		want string
	}{
		{"slot twice", []infer.Row{{Tokens: []int32{1}}, {Tokens: []int32{1}}}, "twice"},
		{"no such slot", []infer.Row{{Slot: 8, Tokens: []int32{1}}}, "slots 0 to 7"},
		{"negative slot", []infer.Row{{Slot: -1, Tokens: []int32{1}}}, "slots 0 to 7"},
		{"no tokens", []infer.Row{{}}, "0 tokens"},
		{"too many tokens", []infer.Row{{Tokens: make([]int32, 5000)}}, "5000 tokens"},
		{"no such token", []infer.Row{{Tokens: []int32{-1}}}, "token -1"},
		{"short logits", []infer.Row{{Tokens: []int32{1}, Logits: make([]float32, 3)}}, "3 logits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantError(t, b.Step(c.rows, make([]infer.Drawn, len(c.rows))), "step of", c.want)
		})
	}
	wantError(t, b.Step(make([]infer.Row, 2), nil), "room for 0 results")
	if err := b.Step(nil, nil); err != nil {
		t.Error(err)
	}
	after := make([]float32, len(before))
	if err := b.ReadSlot(0, after); err != nil || !slices.Equal(before, after) {
		t.Errorf("a refused step changed a state (%v)", err)
	}
}

func TestNaNIsSeen(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	fault(t, "FAKE_NAN", "2")
	r := infer.Row{Tokens: []int32{1}, Sampler: newSampler(lively(1))}
	for n, want := range []bool{false, true, false} {
		if d := step(t, b, r); math.IsNaN(float64(d[0].LogProb)) != want {
			t.Errorf("step %d: log-probability %v", n+1, d[0].LogProb)
		}
	}
}

func TestLostDevice(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	fault(t, "FAKE_LOST", "2")
	r := infer.Row{Tokens: []int32{1}, Sampler: newSampler(lively(1))}
	step(t, b, r)
	err := b.Step([]infer.Row{r}, make([]infer.Drawn, 1))
	wantError(t, err, "Fake G0", "illegal memory access", "conversations are safe", "--backend cpu")
	var lost *LostError
	if !errors.As(err, &lost) || lost.Device != "Fake G0" {
		t.Errorf("error %#v", err)
	}
	for _, again := range []error{
		b.Step([]infer.Row{r}, make([]infer.Drawn, 1)),
		b.ReadSlot(0, make([]float32, model().Shape.StateLen())),
		b.ZeroSlot(1),
	} {
		wantError(t, again, "illegal memory access")
	}
	if m := b.Memory(); m.Weights == 0 {
		t.Error("nobody knows what it occupied")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestTiming(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	step(t, b, infer.Row{Tokens: []int32{1}}, infer.Row{Slot: 1, Tokens: []int32{1}})
	got, err := b.Timing()
	want := Timing{Device: 1500 * time.Microsecond, Submit: 250 * time.Microsecond, Wait: 2 * time.Millisecond, Bucket: 2}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// What samplers count while the device works is what they count by themselves.
func TestSamplersSettleBesideSteps(t *testing.T) {
	const n = settlesBeside + 6
	b := loadFake(t, openFake(t), Options{Slots: n})
	rows, alone := make([]infer.Row, n), make([]*sampler.Sampler, n)
	for i := range rows {
		rows[i] = infer.Row{Slot: infer.Slot(i), Tokens: []int32{int32(i + 1)}, Sampler: newSampler(lively(uint64(i)))}
		alone[i] = newSampler(lively(uint64(i)))
	}
	for range 100 {
		for i, d := range step(t, b, rows...) {
			rows[i].Sampler.Observe(d.Token)
			alone[i].Observe(d.Token)
			alone[i].Skip(1)
			rows[i].Tokens = []int32{d.Token}
		}
	}
	for i := range rows {
		if diff := cmp.Diff(alone[i].Memory(), rows[i].Sampler.Memory()); diff != "" {
			t.Fatalf("row %d: %s", i, diff)
		}
	}
}
