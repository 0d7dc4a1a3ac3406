package measure_test

import (
	"testing"

	"rookery/infer/measure"
	"rookery/infer/scripted"
)

func TestSeries(t *testing.T) {
	m := scripted.Model()
	b := scripted.New(m, scripted.Options{Slots: 4, MaxTokens: 8})
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := measure.Decode(t.Context(), b, m.Shape.Vocab, 3, measure.Plan{Runs: 3, Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	if s.Rows != 3 || s.Tokens != 1 || len(s.Rates) != 3 || s.Rates[0] <= 0 || s.Rates[0] > s.Median() || s.Median() > s.Rates[2] || s.P50 <= 0 || s.P50 > s.P95 || s.P95 > s.P99 {
		t.Errorf("got %+v", s)
	}
	// A run of the least time is one step.
	if s, err = measure.Decode(t.Context(), b, m.Shape.Vocab, 1, measure.Plan{Runs: 2, Time: 1}); err != nil || len(s.Rates) != 2 || s.Median() <= 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	// A prompt longer than a step is cut.
	if s, err = measure.Prefill(t.Context(), b, m.Shape.Vocab, 21, measure.Plan{Runs: 2}); err != nil || s.Tokens != 21 || s.Median() <= 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, rows := range []int{0, 5} {
		if _, err := measure.Decode(t.Context(), b, m.Shape.Vocab, rows, measure.Plan{Runs: 1}); err == nil {
			t.Errorf("%d rows on 4 slots were accepted", rows)
		}
	}
	if _, err := measure.Prefill(t.Context(), b, m.Shape.Vocab, 0, measure.Plan{}); err == nil {
		t.Error("an empty prompt was accepted")
	}
}
