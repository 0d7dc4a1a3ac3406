package checkpoint

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestGGUFEqualsPth(t *testing.T) {
	a, b := opened(t, "testdata/model.pth"), opened(t, "testdata/model.gguf")
	if b.Format() != "gguf" || len(a.Names()) != len(b.Names()) {
		t.Errorf("format %q, %d tensors, the .pth has %d", b.Format(), len(b.Names()), len(a.Names()))
	}
	for _, name := range a.Names() {
		dimsA, _ := a.Dims(name)
		dimsB, ok := b.Dims(name)
		if !ok || !slices.Equal(dimsA, dimsB) || !slices.Equal(values(t, a, name), values(t, b, name)) {
			t.Errorf("%s differs: %v and %v", name, dimsA, dimsB)
		}
	}
	const vocab = "1 b'a' 1\n2 b'\\x0a' 1\n3 b'\\x5c' 1\n4 b'\\x27\\xe4\\xb8' 3\n"
	if string(b.Vocab()) != vocab {
		t.Errorf("vocabulary %q", b.Vocab())
	}
	if m := b.Metadata(); m["general.name"] != "RWKV7 G1 tiny 20250101" || m["tokenizer.chat_template"] != "rwkv-world" || m["rwkv7.block_count"] != "2" {
		t.Errorf("metadata %v", m)
	}
}

// Every packed type is, to the bit, what the gguf package makes of it.
func TestPackedTypes(t *testing.T) {
	f := opened(t, "testdata/types.gguf")
	for i, dtype := range []DType{Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2K, Q3K, Q4K, Q5K, Q6K, IQ4NL} {
		name := "blocks." + string(rune('0'+i%10)) + ".ffn."
		if i > 9 {
			name = "blocks.10.ffn."
		}
		packed, _ := f.Tensor(name + "key.weight")
		got, want := values(t, f, name+"key.weight"), values(t, f, name+"value.weight")
		if packed.DType != dtype || packed.StoredBytes() != dtype.bytes(512) {
			t.Errorf("%s is %s with %d bytes, want %s", name, packed.DType, packed.StoredBytes(), dtype)
		}
		if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Errorf("%s: values %v..., want %v...", dtype, got[:4], want[:4])
		}
		for off := 0; off < 512; off += 7 { // from and to the middle of blocks
			part := make([]float32, min(off+1, 512-off))
			if err := packed.Float32(part, off); err != nil || !slices.Equal(part, want[off:off+len(part)]) {
				t.Fatalf("%s: %d values at %d differ, %v", dtype, len(part), off, err)
			}
		}
		turned := &Tensor{Name: "turned", DType: dtype, Shape: []int{2, 256}, image: f.image, offset: packed.offset}
		turned.transposeLast()
		if err := turned.Float32(got, 0); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != want[i%2*256+i/2] {
				t.Fatalf("%s: value %d of the transposed tensor is %v, want %v", dtype, i, v, want[i%2*256+i/2])
			}
		}
	}
	eight, _ := f.Tensor("blocks.0.ffn.key.weight")
	want := values(t, f, "blocks.0.ffn.value.weight")[32:96]
	ok, err := eight.Blocks(32, 64, func(ints []int8, scales []uint16) {
		for i, v := range want {
			if float32(ints[i])*fromHalf(scales[i/32]) != v {
				t.Fatalf("block value %d is not %v", i, v)
			}
		}
	})
	if err != nil || !ok {
		t.Errorf("the blocks of Q8_0 cannot be used: %v", err)
	}
}

// A ggufText is a GGUF file in the making.
type ggufText struct{ b []byte }

func (g *ggufText) u32(v ...uint32) *ggufText {
	for _, x := range v {
		g.b = binary.LittleEndian.AppendUint32(g.b, x)
	}
	return g
}

func (g *ggufText) u64(v ...uint64) *ggufText {
	for _, x := range v {
		g.b = binary.LittleEndian.AppendUint64(g.b, x)
	}
	return g
}

func (g *ggufText) str(s string) *ggufText {
	g.u64(uint64(len(s)))
	g.b = append(g.b, s...)
	return g
}

// gguf begins a file of one tensor with n more entries of metadata.
func gguf(arch string, entries uint64) *ggufText {
	g := &ggufText{b: []byte("GGUF")}
	return g.u32(2).u64(1, 1+entries).str("general.architecture").u32(ggufString).str(arch)
}

// tensor ends the header with a tensor, and adds n bytes of data.
func (g *ggufText) tensor(name string, kind uint32, offset uint64, n int, dims ...uint64) []byte {
	g.str(name).u32(uint32(len(dims))).u64(dims...).u32(kind).u64(offset)
	for len(g.b)%32 != 0 {
		g.b = append(g.b, 0)
	}
	return append(g.b, make([]byte, n)...)
}

// The halved matrices of an RWKV-6 for fp16 activations are made good.
func TestGGUFUndoesRescaling(t *testing.T) {
	file := gguf("rwkv6", 1).str("rwkv6.rescale_every_n_layers").u32(ggufUint32, 6).tensor("blk.13.time_mix_output.weight", 0, 0, 4, 1)
	copy(file[len(file)-4:], []byte{0, 0, 0x40, 0x40}) // 3
	f, err := FromBytes("x", file)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, f, "blocks.13.att.output.weight"); got[0] != 12 {
		t.Errorf("3 became %v, want 12", got)
	}
}

// A byte-level BPE in a GGUF file comes out as a tokenizer.json.
func TestGGUFCarriesBPE(t *testing.T) {
	g := gguf("rwkv7", 4).str("tokenizer.ggml.model").u32(ggufString).str("gpt2")
	g.str("tokenizer.ggml.tokens").u32(ggufArrayKind, ggufString).u64(3).str("<|end|>").str("a").str("aa")
	g.str("tokenizer.ggml.token_type").u32(ggufArrayKind, ggufInt32).u64(3).u32(tokenControl, 1, 1)
	g.str("tokenizer.ggml.merges").u32(ggufArrayKind, ggufString).u64(1).str("a a")
	f, err := FromBytes("x", g.tensor("blk.0.time_mix_key.weight", 0, 0, 16, 4))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"added_tokens":[{"id":0,"content":"<|end|>","special":true,"normalized":false}],` +
		`"model":{"merges":["a a"],"type":"BPE","vocab":{"\u003c|end|\u003e":0,"a":1,"aa":2}},"pre_tokenizer":{"type":"ByteLevel"}}`
	if got := string(f.Vocab()); strings.ReplaceAll(got, `"\u003c|end|\u003e","special"`, `"<|end|>","special"`) != want {
		t.Errorf("vocabulary %s", got)
	}
}

func TestGGUFRefuses(t *testing.T) {
	const name = "blk.0.time_mix_key.weight"
	for _, c := range []struct {
		file []byte
		want string
	}{
		{(&ggufText{b: []byte("GGUF")}).u32(1).b, "version 1"},
		{(&ggufText{b: []byte("GGUF")}).u32(3 << 24).b, "big byte order"},
		{(&ggufText{b: []byte("GGUF")}).u32(3).u64(1 << 40).b, "tensors"},
		{(&ggufText{b: []byte("GGUF")}).u32(3).u64(1, 1).u64(1 << 62).b, "a text of"},
		{gguf("llama", 0).tensor(name, 0, 0, 16, 4), "llama"},
		{gguf("arwkv7", 0).tensor(name, 0, 0, 16, 4), "ARWKV"},
		{gguf("rwkv6qwen2", 0).tensor(name, 0, 0, 16, 4), "RWKV6-Qwen2"},
		{gguf("rwkv7", 0).tensor(name, 23, 0, 16, 4), "IQ4_XS"},
		{gguf("rwkv7", 0).tensor(name, 2, 0, 18, 31), "whole blocks"},
		{gguf("rwkv7", 0).tensor(name, 0, 0, 12, 4), "it ends at byte 16"},
		{gguf("rwkv7", 0).tensor(name, 0, 8, 32, 4), "multiple of 32"},
		{gguf("rwkv7", 0).tensor(name, 0, 1<<63, 16, 4), "it begins at byte"},
		{gguf("rwkv7", 0).tensor(name, 0, 0, 16, 1<<33, 1<<33), "impossible shape"},
		{gguf("rwkv7", 0).tensor("blk.0.attn_q.weight", 0, 0, 16, 4), "no such tensor"},
		{gguf("rwkv7", 0).tensor("blk.0.time_mix_lerp_fused.weight", 0, 0, 16, 4), "6 mixes"},
		{gguf("rwkv7", 1).str("general.alignment").u32(ggufUint32, 12).tensor(name, 0, 0, 16, 4), "alignment"},
		{gguf("rwkv7", 1).str("rwkv7.attention.layer_norm_epsilon").u32(ggufFloat32, math.Float32bits(1e-6)).tensor(name, 0, 0, 16, 4), "epsilon"},
		{gguf("rwkv7", 1).str("a").u32(ggufArrayKind, ggufString).u64(1 << 40).b, "values"},
		{gguf("rwkv7", 1).str("a").u32(ggufArrayKind, ggufArrayKind).u64(1).b, "array of kind"},
		{gguf("rwkv7", 1).str("general.architecture").u32(ggufUint8).b, "twice"},
		{gguf("rwkv7", 1).str("a").u32(13).b, "unknown kind"},
	} {
		_, err := FromBytes("x.gguf", c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.gguf: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one about %q", err, c.want)
		}
	}
	whole, err := os.ReadFile("testdata/model.gguf")
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 31 { // the last tensor may be padded
		if _, err := FromBytes("x", whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", n, len(whole))
		}
	}
}
