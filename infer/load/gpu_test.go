//go:build linux && (amd64 || arm64) && !nogpu

package load

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/native"
	"rookery/infer/native/nativetest"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
)

// fakeGPU lets programs find a library without a GPU, built with macros.
func fakeGPU(t *testing.T, macros ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), native.FileName)
	nativetest.Build(t, path, macros...)
	t.Setenv(native.EnvPath, path)
}

// openOn opens a model and says what runs it.
func openOn(t *testing.T, spec Spec) (*infer.Model, string) {
	t.Helper()
	m, b, err := Open(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	return m, b.Name()
}

func TestAutoUsesTheGPU(t *testing.T) {
	fakeGPU(t)
	for _, c := range []struct {
		spec                Spec
		name, width, noting string
	}{
		{Spec{}, "cuda, Fake G0, fp16", "-fp16", ""},
		{Spec{Backend: "auto", Weights: "bf16", State: "fp16"}, "cuda, Fake G0, bf16, fp16 states", "-bf16-fp16state", ""},
		{Spec{Backend: "cuda"}, "cuda, Fake G0, fp16", "-fp16", ""},
		{Spec{Backend: "cpu"}, "cpu, ", "-int8", ""},
		{Spec{Weights: "int8"}, "cpu, ", "-int8", "int8"}, // which no GPU runs
	} {
		var notes []string
		c.spec.Slots, c.spec.Note = 2, func(line string) { notes = append(notes, line) }
		m, name := openOn(t, c.spec)
		if !strings.HasPrefix(name, c.name) || !strings.HasSuffix(m.Fingerprint, c.width) {
			t.Errorf("%+v: %s with the fingerprint %s", c.spec, name, m.Fingerprint)
		}
		if (len(notes) > 0) != (c.noting != "") || !strings.Contains(strings.Join(notes, " "), c.noting) {
			t.Errorf("%+v: notes %q", c.spec, notes)
		}
	}
}

func TestUnusableGPU(t *testing.T) {
	fakeGPU(t, "-DFAKE_ABI=9")
	var notes []string
	_, name := openOn(t, Spec{Slots: 2, Note: func(line string) { notes = append(notes, line) }})
	if !strings.HasPrefix(name, "cpu, ") {
		t.Errorf("runs on %s", name)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "running on the CPU") || !strings.Contains(notes[0], "version 9") || strings.Contains(notes[0], "\n") {
		t.Errorf("notes %q, want one line about the version", notes)
	}
	if _, b, err := Open(context.Background(), Spec{Backend: "cuda"}, nil); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("loaded %v, error %v", b, err)
	}
}

// Where no library is, nobody wonders why the CPU is used.
func TestNoGPU(t *testing.T) {
	t.Setenv(native.EnvPath, "")
	_, name := openOn(t, Spec{Slots: 2, Note: func(line string) { t.Errorf("note %q", line) }})
	if !strings.HasPrefix(name, "cpu, ") {
		t.Errorf("runs on %s", name)
	}
	_, _, err := Open(context.Background(), Spec{Backend: "cuda"}, nil)
	if !errors.Is(err, native.ErrAbsent) || !strings.Contains(err.Error(), "make cuda") {
		t.Errorf("error %v", err)
	}
}

func TestGPUCancelled(t *testing.T) {
	fakeGPU(t)
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := Open(ctx, Spec{Slots: 2, Note: func(line string) { t.Errorf("note %q", line) }}, func(Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSyntheticOnTheGPU(t *testing.T) {
	fakeGPU(t)
	var last Progress
	b, err := Synthetic(context.Background(), tiny, Spec{Slots: 2}, func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.Name(), "cuda, ") || b.Slots() != 2 || last.Done != tiny.Params() {
		t.Errorf("%s with %d slots, progress ended at %+v", b.Name(), b.Slots(), last)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	odd := tiny
	odd.Version = rwkv.V7A
	if _, err := Synthetic(context.Background(), odd, Spec{Backend: "cuda"}, nil); err == nil {
		t.Error("made an RWKV-7a, which no GPU library runs")
	}
}

func TestExemptTokens(t *testing.T) {
	m := open(t, Spec{Backend: "cpu", Slots: 1})
	got := exempt(m.Tokenizer)
	var texts []string
	for _, id := range got {
		texts = append(texts, string(m.Tokenizer.Bytes(id)))
		if !sampler.PipExempt(m.Tokenizer.Bytes(id)) {
			t.Errorf("token %d, %q, is exempt", id, m.Tokenizer.Bytes(id))
		}
	}
	if !slices.Contains(texts, "7") || !slices.Contains(texts, " ") || slices.Contains(texts, "a") {
		t.Errorf("exempt are %q", texts)
	}
}
