package checkpoint

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files of other programs hold what the released files of the same models hold.
func TestForeignLayouts(t *testing.T) {
	for _, c := range []struct {
		released, foreign, format string
		tolerance                 float64
	}{
		{"model.pth", "fla.safetensors", "safetensors (fla)", 0},
		{"model.pth", "sharded.safetensors.index.json", "safetensors, sharded (fla)", 0},
		{"model.pth", "rwkvcpp-7.bin", "rwkv.cpp", 0},
		{"old-4.pth", "rwkvcpp-4.bin", "rwkv.cpp", 1e-6},
		{"old-5.pth", "rwkvcpp-5.bin", "rwkv.cpp", 1e-5},
		{"old-6.pth", "rwkvcpp-6.bin", "rwkv.cpp", 0},
		{"old-4.pth", "transformers-4.safetensors", "safetensors (transformers)", 0},
	} {
		a, b := opened(t, "testdata/"+c.released), opened(t, "testdata/"+c.foreign)
		if b.Format() != c.format || len(a.Names()) != len(b.Names()) || b.Size() == 0 || b.Fingerprint() == "" {
			t.Errorf("%s: format %q, %d tensors, want %d", c.foreign, b.Format(), len(b.Names()), len(a.Names()))
		}
		for _, name := range a.Names() {
			dimsA, _ := a.Dims(name)
			dimsB, ok := b.Dims(name)
			if !ok || !slices.Equal(dimsA, dimsB) {
				t.Fatalf("%s: %s is %v, want %v", c.foreign, name, dimsB, dimsA)
			}
			got, want := values(t, b, name), values(t, a, name)
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > c.tolerance {
					t.Fatalf("%s: %s[%d] is %v, want %v", c.foreign, name, i, got[i], want[i])
				}
			}
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	dir := t.TempDir()
	model, err := os.ReadFile("testdata/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"a.safetensors": string(model), "bad.safetensors": "?"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		`{`:                 "the index cannot be read",
		`{"weight_map":{}}`: "names 0 files",
		`{"weight_map":{"a":"../a.safetensors"}}`:                             "no file beside the index",
		`{"weight_map":{"a":".."}}`:                                           "no file beside the index",
		`{"weight_map":{"a":"none.safetensors"}}`:                             "none.safetensors",
		`{"weight_map":{"a":"bad.safetensors"}}`:                              "bad.safetensors",
		`{"weight_map":{"a":"a.safetensors"}}`:                                "should lie in",
		`{"weight_map":{"emb.weight":"a.safetensors","x":"./a.safetensors"}}`: "no file beside the index",
	} {
		path := filepath.Join(dir, "m.safetensors.index.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line about %q", text, err, want)
		}
	}
}

func TestRWKVCppRefuses(t *testing.T) {
	whole, err := os.ReadFile("testdata/rwkvcpp-7.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromBytes("x", whole[:len(whole)-1]); err == nil || !strings.Contains(err.Error(), "after the end") {
		t.Errorf("a short file: %v", err)
	}
	head := binary.LittleEndian.AppendUint32([]byte("fmgg"), 101)
	head = append(head, make([]byte, 16)...)
	number := binary.LittleEndian.AppendUint32
	for _, c := range []struct {
		file []byte
		want string
	}{
		{[]byte("fmgg"), "ends inside its header"},
		{append(number([]byte("fmgg"), 99), make([]byte, 16)...), "version 99"},
		{head, "no tensors"},
		{append(slices.Clone(head), 1, 2), "description"},
		{number(number(number(slices.Clone(head), 9), 1), 0), "9 dimensions"},
		{append(number(number(number(number(slices.Clone(head), 1), 1), 4), 32), 'a'), "type 4"},
		{append(number(number(number(number(slices.Clone(head), 1), 1), 0), 1<<31-1), 'a'), "after the end"},
		{append(number(number(number(number(slices.Clone(head), 1), 1), 2), 33), 'a'), "whole blocks"},
	} {
		if _, err := FromBytes("x", c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
