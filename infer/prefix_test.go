package infer_test

import (
	"testing"

	"rookery/infer"
	"rookery/infer/scripted"
)

func TestPrefix(t *testing.T) {
	m := scripted.Model()
	other := scripted.ModelWith("other", m.Tokenizer, m.Shape.Vocab)
	other.Fingerprint = m.Fingerprint + "x"
	zero := infer.PrefixFrom(m, "")
	seen := map[infer.Prefix]string{{}: "nothing"}
	for name, p := range map[string]infer.Prefix{
		"zero": zero, "other model": infer.PrefixFrom(other, ""), "base": infer.PrefixFrom(m, "1"), "base 2": infer.PrefixFrom(m, "12"),
		"1": zero.After([]int32{1}), "1 2": zero.After([]int32{1, 2}), "2 1": zero.After([]int32{2, 1}), "0": zero.After([]int32{0}),
		"256": zero.After([]int32{256}), "other 1": infer.PrefixFrom(other, "").Then(1),
	} {
		if was, ok := seen[p]; ok {
			t.Errorf("%q and %q have the same prefix %v", name, was, p)
		}
		seen[p] = name
	}
	if got := zero.After([]int32{1}).After(nil).After([]int32{2}); got != zero.Then(1).Then(2) || got != zero.After([]int32{1, 2}) {
		t.Error("the prefix depends on how the tokens are cut")
	}
}

func BenchmarkPrefix(b *testing.B) {
	p := infer.PrefixFrom(scripted.Model(), "")
	for b.Loop() {
		p = p.Then(7)
	}
}
