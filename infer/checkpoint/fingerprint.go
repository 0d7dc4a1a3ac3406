package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// The part of a large tensor that goes into the fingerprint: this many pieces of
// this many values, spread evenly.
const (
	samplePieces = 8
	sampleValues = 256
)

// Fingerprint identifies the weights: a hash over names, types, shapes and
// samples of every tensor's data. The same weights have the same fingerprint as
// .pth and as .safetensors. It is empty if the file cannot be read any more.
func (f *File) Fingerprint() string {
	f.fingerprintOnce.Do(func() {
		sorted := slices.Clone(f.order)
		slices.SortFunc(sorted, func(a, b *Tensor) int { return strings.Compare(a.Name, b.Name) })
		h := sha256.New()
		for _, t := range sorted {
			if t.image.guard(func() error { return t.hashInto(h) }) != nil {
				return
			}
		}
		f.fingerprint = hex.EncodeToString(h.Sum(nil)[:16])
	})
	return f.fingerprint
}

// hashInto adds the tensor's description and samples of its values.
func (t *Tensor) hashInto(h hash.Hash) error {
	h.Write(fmt.Appendf(nil, "%s %s %v\n", t.Name, t.DType, t.Shape)) // a hash never fails
	n := t.Len()
	starts := []int{0}
	size := n
	if n > samplePieces*sampleValues {
		starts, size = make([]int, samplePieces), sampleValues
		for i := range starts {
			starts[i] = (n - size) / (samplePieces - 1) * i
		}
	}
	for _, off := range starts {
		raw, err := t.sample(off, size)
		if err != nil {
			return err
		}
		h.Write(raw) // a hash never fails
		if t.DType == Q8 && size > 0 {
			first := off / Q8Block
			scales, err := t.image.slice(t.scales+2*int64(first), 2*int64((off+size-1)/Q8Block-first+1), nil)
			if err != nil {
				return err
			}
			h.Write(scales)
		}
	}
	return nil
}

// sample returns the stored bytes of n values from number off on, of packed types
// those of whole blocks.
func (t *Tensor) sample(off, n int) ([]byte, error) {
	l := layouts[t.DType]
	if l.unpack == nil || t.stride != nil {
		return t.raw(off, n, nil)
	}
	off -= off % l.values
	return t.image.slice(t.offset+t.DType.bytes(int64(off)), t.DType.bytes(int64(n)), nil)
}
