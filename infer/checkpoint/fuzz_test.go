package checkpoint

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"
)

// FuzzPth feeds whole .pth files, seeded with what torch writes.
func FuzzPth(f *testing.F) {
	seedFiles(f, "testdata/*.pth")
	t := testTensor{name: "a", key: "0", count: 16, shape: []int64{2, 4}, stride: []int64{4, 1}}
	f.Add(pth(f, weightPickle(t)))
	f.Add(zip64ed(testEntry{name: "m/data.pkl", data: weightPickle(t)}, testEntry{name: "m/data/0", data: make([]byte, 64)}))
	f.Add(zipped(f, testEntry{name: "m/data.pkl", data: weightPickle(t), method: zip.Deflate}))
	f.Fuzz(func(t *testing.T, data []byte) { useUp(t, data) })
}

// FuzzPthPickle feeds pickles inside an otherwise good .pth file.
func FuzzPthPickle(f *testing.F) {
	f.Add(weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{2, 4}, stride: []int64{4, 1}}))
	f.Add(weightPickle(testTensor{name: "a", class: "HalfStorage", key: "0", count: 32, offset: 3, shape: []int64{1, 3, 2}, stride: []int64{9, 2, 5}}))
	f.Add(weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{2, 0}, stride: []int64{7, 7}}))
	seedPickles(f)
	f.Fuzz(func(t *testing.T, pickle []byte) { useUp(t, pth(t, pickle)) })
}

// FuzzUnpickle feeds the pickle machine alone.
func FuzzUnpickle(f *testing.F) {
	seedPickles(f)
	f.Add([]byte("]q\x00h\x00a."))
	f.Fuzz(func(t *testing.T, pickle []byte) {
		if _, err := unpickle(pickle); err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}

// FuzzSafetensors feeds whole .safetensors files.
func FuzzSafetensors(f *testing.F) {
	seedFiles(f, "testdata/*.safetensors")
	f.Add(safetensors(`{"__metadata__":{"format":"rookery","version":"1"},"a":{"dtype":"I8","shape":[2,32],"data_offsets":[0,64]},`+
		`"a.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]},"tokenizer.vocab":{"dtype":"U8","shape":[3],"data_offsets":[68,71]}}`, 71))
	f.Add(safetensors(`{"blocks.0.att.key.lora.0":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}}`, 12))
	f.Fuzz(func(t *testing.T, data []byte) { useUp(t, data) })
}

// FuzzGGUF feeds whole GGUF files.
func FuzzGGUF(f *testing.F) {
	seedFiles(f, "testdata/*.gguf")
	f.Add(gguf("rwkv6", 1).str("rwkv6.rescale_every_n_layers").u32(ggufUint32, 6).tensor("blk.13.time_mix_output.weight", 0, 0, 4, 1))
	f.Add(gguf("rwkv7", 0).tensor("blk.0.time_mix_w1.weight", 2, 0, 36, 32, 2))
	f.Fuzz(func(t *testing.T, data []byte) { useUp(t, data) })
}

// FuzzRWKVCpp feeds whole files of rwkv.cpp.
func FuzzRWKVCpp(f *testing.F) {
	seedFiles(f, "testdata/*.bin")
	f.Fuzz(func(t *testing.T, data []byte) { useUp(t, data) })
}

// FuzzSafetensorsHeader feeds headers in front of a little data.
func FuzzSafetensorsHeader(f *testing.F) {
	f.Add(`{"__metadata__":{"format":"rookery","version":"1"},"a":{"dtype":"I8","shape":[2,32],"data_offsets":[0,64]},` +
		`"a.scales":{"dtype":"F16","shape":[2,1],"data_offsets":[64,68]},"tokenizer.vocab":{"dtype":"U8","shape":[3],"data_offsets":[68,71]}}`)
	f.Add(`{"emb.weight":{"dtype":"BF16","shape":[4,8],"data_offsets":[0,64]},"blocks.0.att.w1":{"dtype":"F32","shape":[2,8],"data_offsets":[64,128]}}`)
	f.Add(`{"blocks.0.att.time_mix_w2":{"dtype":"F16","shape":[5,2,3],"data_offsets":[0,60]},"b.lora.0":{"dtype":"F64","shape":[2,3],"data_offsets":[60,108]}}`)
	f.Fuzz(func(t *testing.T, header string) { useUp(t, safetensors(header, 128)) })
}

// seedFiles adds small valid files.
func seedFiles(f *testing.F, pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds %s: %v", pattern, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// seedPickles adds the data.pkl of the .pth files that have one.
func seedPickles(f *testing.F) {
	for _, name := range []string{"types", "views", "nested", "protocol4", "ordered", "converted"} {
		data, err := os.ReadFile("testdata/" + name + ".pth")
		if err != nil {
			f.Fatal(err)
		}
		a, err := openArchive(memoryImage(data))
		if err != nil {
			f.Fatal(err)
		}
		pickle, err := a.bytes("data.pkl", maxPickle)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pickle)
	}
}

// useUp opens data and, if it is accepted, reads everything in it. What is
// accepted must be readable, and not many times as large as the file.
func useUp(t *testing.T, data []byte) {
	file, err := FromBytes("fuzz", data)
	if err != nil {
		return
	}
	total := 0
	for _, name := range file.Names() {
		tensor, ok := file.Tensor(name)
		if dims, hasDims := file.Dims(name); !ok || !hasDims || len(dims) != len(tensor.Shape) {
			t.Fatalf("tensor %q is named and not there", name)
		}
		total += tensor.Len()
		if total > 8*len(data) {
			t.Fatalf("%d values in %d bytes", total, len(data))
		}
		values := make([]float32, tensor.Len())
		if err := tensor.Float32(values, 0); err != nil {
			t.Fatal(err)
		}
		if ints, scales, ok := blocks(t, tensor); ok && (len(ints) != len(values) || len(scales) != len(values)/Q8Block) {
			t.Fatalf("%d values, %d int8 and %d scales", len(values), len(ints), len(scales))
		}
	}
	if file.Fingerprint() == "" {
		t.Fatal("no fingerprint")
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
