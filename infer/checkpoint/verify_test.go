package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// A flipped bit anywhere in what torch wrote is found: of the pickle when the file is
// opened, of a storage when it is verified.
func TestVerifyFindsAFlippedBit(t *testing.T) {
	whole, err := os.ReadFile("testdata/model.pth")
	if err != nil {
		t.Fatal(err)
	}
	f, err := FromBytes("model.pth", whole)
	if err != nil {
		t.Fatal(err)
	}
	if !f.HasChecksums() {
		t.Fatal("torch's file has no checksums")
	}
	var last, total int64
	if err := f.Verify(t.Context(), func(done, of int64) { last, total = done, of }); err != nil || last != total || last == 0 {
		t.Fatalf("the file as it is: %v after %d of %d bytes", err, last, total)
	}
	for _, tensor := range f.order {
		bad := bytes.Clone(whole)
		bad[tensor.offset+tensor.StoredBytes()/2] ^= 0x10
		damaged, err := FromBytes("the-file", bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := damaged.Verify(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), "the-file: ") || !strings.Contains(err.Error(), "checksum") {
			t.Fatalf("%s: %v", tensor.Name, err)
		}
		own, _ := damaged.Tensor(tensor.Name)
		if err := own.Verify(); err == nil || !strings.Contains(err.Error(), tensor.Name) {
			t.Errorf("%s alone: %v", tensor.Name, err)
		}
	}
	at := bytes.Index(whole, []byte("collections"))
	bad := bytes.Clone(whole)
	bad[at] ^= 1
	refused(t, "a bit of data.pkl", bad, "checksum")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Files without checksums pass: torch can leave them out, and safetensors has none.
// Their digest tells one from another all the same.
func TestVerifyWithoutChecksums(t *testing.T) {
	good := weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{16}, stride: []int64{1}})
	bare := zip64ed(testEntry{name: "m/data.pkl", data: good}, testEntry{name: "m/data/0", data: make([]byte, 64)})
	plain, err := os.ReadFile("testdata/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"pth": bare, "safetensors": plain} {
		f, err := FromBytes(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(t.Context(), nil); err != nil || f.HasChecksums() {
			t.Errorf("%s: %v, checksums %v", name, err, f.HasChecksums())
		}
		before, err := f.Digest()
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-1] ^= 1
		if after, err := f.Digest(); err != nil || after == before {
			t.Errorf("%s: the same digest after a bit has changed (%v)", name, err)
		}
	}
}
