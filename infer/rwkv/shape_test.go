package rwkv_test

import (
	"testing"

	"rookery/infer/rwkv"
)

// The parts of the canonical state lie one after the other and fill it.
func TestStateLayout(t *testing.T) {
	next := 0
	for layer := range small.Layers {
		for name, size := range map[string]int{
			rwkv.PartAttShift: small.Embed, rwkv.PartFFNShift: small.Embed, rwkv.PartWKV: small.Heads * small.HeadSize * small.HeadSize,
		} {
			if first, last := small.StatePart(layer, name); last-first != size {
				t.Errorf("%s of layer %d is values %d to %d, want %d values", name, layer, first, last, size)
			}
		}
		for _, part := range small.StateParts() {
			first, last := small.StatePart(layer, part.Name)
			if first != next {
				t.Errorf("%s of layer %d begins at %d, want %d", part.Name, layer, first, next)
			}
			next = last
		}
	}
	if got := small.StateLen(); got != next {
		t.Errorf("StateLen = %d, want %d", got, next)
	}
}

// The released models have as many parameters as their authors publish.
func TestReleasedSizes(t *testing.T) {
	for name, want := range map[string]int64{"0.1b": 191_034_624, "0.4b": 450_767_872, "1.5b": 1_527_404_544, "2.9b": 2_947_735_040} {
		if got := rwkv.Released()[name].Params(); got != want {
			t.Errorf("%s: %d parameters, want %d", name, got, want)
		}
	}
}

// Every version that can be run has its ID, and its tensors find their sizes.
func TestRunnable(t *testing.T) {
	for _, v := range rwkv.Runnable() {
		if got, ok := rwkv.VersionOf(v.ID()); !ok || got != v {
			t.Errorf("%v: the ID %q is that of %v", v, v.ID(), got)
		}
		if err := (rwkv.Shape{Version: v}).CheckRunnable("a place", rwkv.Runnable()); err != nil {
			t.Error(err)
		}
	}
	if _, ok := rwkv.VersionOf("x080"); ok {
		t.Error("x080 can be run")
	}
	err := rwkv.Shape{Version: rwkv.V4}.CheckRunnable("the toaster", []rwkv.Version{rwkv.V52, rwkv.V7})
	if err == nil || err.Error() != "RWKV-4 (x040): the toaster runs plain RWKV-5.2 (x052) and RWKV-7 (x070) only" {
		t.Error(err)
	}
}

func TestVersionString(t *testing.T) {
	for v, want := range map[rwkv.Version]string{rwkv.V7: "RWKV-7 (x070)", rwkv.Unknown: "an unknown architecture", 200: "an unknown architecture"} {
		if got := v.String(); got != want {
			t.Errorf("Version(%d) is %q, want %q", v, got, want)
		}
	}
}
