package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// BenchmarkFloat32 converts a matrix of each stored type, in bytes of the file.
func BenchmarkFloat32(b *testing.B) {
	const n = 1 << 20
	for _, c := range []struct {
		name  string
		dtype DType
	}{{"F32", F32}, {"F16", F16}, {"BF16", BF16}, {"I8", Q8}} {
		b.Run(c.name, func(b *testing.B) {
			zeros := func(w io.Writer) error { _, err := w.Write(make([]byte, n*c.dtype.size())); return err }
			entries := []Entry{{Name: "a", Type: c.name, Shape: []int{n}, Write: zeros}}
			if c.dtype == Q8 {
				entries = pair(&Tensor{Name: "a", Shape: []int{n}}, zeros, func(w io.Writer) error {
					_, err := w.Write(make([]byte, n/Q8Block*2))
					return err
				})
			}
			var file bytes.Buffer
			if err := WriteSafetensors(&file, entries, map[string]string{metadataFormat: ownFormat, metadataVersion: ownVersion}); err != nil {
				b.Fatal(err)
			}
			f, err := FromBytes(fmt.Sprint("bench ", c.name), file.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			t, _ := f.Tensor("a")
			dst := make([]float32, n)
			b.SetBytes(t.StoredBytes())
			for b.Loop() {
				if err := t.Float32(dst, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
