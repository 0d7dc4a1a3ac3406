package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// safetensors is a file of a header and n bytes of data.
func safetensors(header string, n int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, n)...)
}

func TestSafetensorsEqualPth(t *testing.T) {
	for _, name := range []string{"types", "model"} {
		a, b := opened(t, "testdata/"+name+".pth"), opened(t, "testdata/"+name+".safetensors")
		namesA, namesB := a.Names(), b.Names() // the safetensors package sorts
		slices.Sort(namesA)
		slices.Sort(namesB)
		if !slices.Equal(namesA, namesB) {
			t.Fatalf("names %v and %v", namesA, namesB)
		}
		for _, tensor := range namesA {
			dimsA, _ := a.Dims(tensor)
			dimsB, _ := b.Dims(tensor)
			if !slices.Equal(dimsA, dimsB) || !slices.Equal(values(t, a, tensor), values(t, b, tensor)) {
				t.Errorf("%s: %s differs", name, tensor)
			}
		}
		if a.Fingerprint() != b.Fingerprint() {
			t.Errorf("%s: fingerprints %s and %s", name, a.Fingerprint(), b.Fingerprint())
		}
		if b.Format() != "safetensors" {
			t.Errorf("format %q", b.Format())
		}
	}
}

func TestWebRWKVEqualsPth(t *testing.T) {
	a, b := opened(t, "testdata/model.pth"), opened(t, "testdata/web-rwkv.safetensors")
	if b.Format() != "safetensors (web-rwkv)" {
		t.Errorf("format %q", b.Format())
	}
	for _, name := range a.Names() {
		dimsA, _ := a.Dims(name)
		dimsB, ok := b.Dims(name)
		if !ok || !slices.Equal(dimsA, dimsB) || !slices.Equal(values(t, a, name), values(t, b, name)) {
			t.Errorf("%s differs: %v and %v", name, dimsA, dimsB)
		}
	}
}

func TestWebRWKVNames(t *testing.T) {
	zeros := func(name string, shape ...int) Entry {
		n := 4
		for _, d := range shape {
			n *= d
		}
		return Entry{Name: name, Type: "F32", Shape: shape, Write: func(w io.Writer) error {
			_, err := w.Write(make([]byte, n))
			return err
		}}
	}
	for _, c := range []struct {
		in   []Entry
		want string
	}{
		{
			[]Entry{zeros("blocks.0.att.key.lora.0", 8, 2), zeros("blocks.0.att.key.lora.1", 8, 2)},
			"blocks.0.att.key.lora_A [2 8], blocks.0.att.key.lora_B [8 2]",
		},
		{
			[]Entry{zeros("blocks.0.att.time_mix_w1", 10, 4), zeros("blocks.0.att.time_mix_w2", 5, 4, 2), zeros("blocks.0.att.time_mix_x", 4), zeros("blocks.0.att.time_first", 2, 2)},
			"blocks.0.att.time_maa_w1 [4 10], blocks.0.att.time_maa_w2 [5 2 4], blocks.0.att.time_maa_x [4], blocks.0.att.time_faaaa [2 2]",
		},
		{[]Entry{zeros("blocks.0.att.time_mix_k", 4), zeros("blocks.0.att.time_first", 4)}, // v4, not converted
			"blocks.0.att.time_mix_k [4], blocks.0.att.time_first [4]"},
	} {
		f := opened(t, written(t, c.in, nil))
		var got []string
		for _, name := range f.Names() {
			dims, _ := f.Dims(name)
			got = append(got, fmt.Sprint(name, " ", dims))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

func TestSafetensorsRefused(t *testing.T) {
	tensor := func(dtype, shape, offsets string) []byte {
		return safetensors(`{"a":{"dtype":"`+dtype+`","shape":`+shape+`,"data_offsets":`+offsets+`}}`, 64)
	}
	long := binary.LittleEndian.AppendUint64(nil, maxHeader+1)
	for name, c := range map[string]struct {
		data []byte
		part string
	}{
		"header too long":     {append(long, '{'), "at most"},
		"header beyond end":   {safetensors(`{"a":{}}`, 0)[:12], "ends after the end"},
		"not JSON":            {safetensors(`{,}`, 64), "header is not as it should be"},
		"cut JSON":            {safetensors(`{"a":{"dtype":"F32"`, 64), "header"},
		"list":                {safetensors(`{"a":[1,2]}`, 64), `tensor "a"`},
		"more after":          {safetensors(`{}{}`, 64), "goes on after its end"},
		"deep nesting":        {safetensors(`{"a":`+strings.Repeat("[", 1<<20), 0), "header"},
		"metadata number":     {safetensors(`{"__metadata__":{"a":1}}`, 0), "metadata"},
		"nothing":             {safetensors(`{}`, 0), "no tensors"},
		"no place":            {safetensors(`{"a":{"dtype":"F32","shape":[4]}}`, 64), "impossible place"},
		"no shape":            {safetensors(`{"a":{"dtype":"F32","data_offsets":[0,16]}}`, 64), "no shape"},
		"one offset":          {tensor("F32", "[4]", "[16]"), "impossible place"},
		"backwards":           {tensor("F32", "[4]", "[16,0]"), "impossible place"},
		"negative place":      {tensor("F32", "[4]", "[-16,0]"), "impossible place"},
		"beyond end":          {tensor("F32", "[17]", "[0,68]"), "the file has 64"},
		"overflowing place":   {tensor("F32", "[4]", "[9223372036854775800,9223372036854775807]"), "the file has 64"},
		"place over 64 bits":  {tensor("F32", "[4]", "[0,18446744073709551616]"), "cannot be read"},
		"fraction":            {tensor("F32", "[4.5]", "[0,18]"), "cannot be read"},
		"size and shape":      {tensor("F32", "[5]", "[0,16]"), "16 bytes, but its shape [5] in F32 needs 20"},
		"negative shape":      {tensor("F32", "[-1,-4]", "[0,16]"), "impossible shape"},
		"overflowing shape":   {tensor("F32", "[2147483647,2147483647,2147483647]", "[0,16]"), "impossible shape"},
		"overflow to 0":       {tensor("U8", "[65536,65536,65536,65536]", "[0,0]"), "impossible shape"},
		"too many dimensions": {tensor("F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]"), "9 dimensions"},
		"other type":          {tensor("F8_E4M3", "[16]", "[0,16]"), `"F8_E4M3" is not read`},
		"foreign int8":        {tensor("I8", "[16]", "[0,16]"), "not written by rookery"},
		"empty name":          {safetensors(`{"":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4), "no name"},
		"long name":           {safetensors(`{"`+strings.Repeat("n", 513)+`":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4), "no name"},
		"newline in name":     {safetensors(`{"a\nb":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4), `"a\nb"`},
		"name twice":          {safetensors(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, 8), "occurs twice"},
		"overlap":             {safetensors(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}`, 8), `shares bytes with "a"`},
		"bytes left over":     {tensor("F32", "[4]", "[0,16]"), "the last 48 bytes belong to no tensor"},
		"a gap":               {safetensors(`{"a":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}}`, 16), "the 8 bytes before it belong to no tensor"},
		"inside another":      {safetensors(`{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}}`, 8), "shares bytes"},
		"newer format":        {safetensors(`{"__metadata__":{"format":"rookery","version":"2"}}`, 0), "newer Rookery"},
	} {
		refused(t, name, c.data, c.part)
	}
}

func TestSafetensorsTooMany(t *testing.T) {
	var header strings.Builder
	header.WriteString("{")
	for i := range maxTensors + 1 {
		fmt.Fprintf(&header, `"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
	}
	refused(t, "too many", safetensors(strings.TrimSuffix(header.String(), ",")+"}", 0), "more than 32768 tensors")
}

func TestQuantizedPairsRefused(t *testing.T) {
	const own = `{"__metadata__":{"format":"rookery","version":"1"},`
	ints := func(shape string, n int) string {
		return fmt.Sprintf(`"a":{"dtype":"I8","shape":%s,"data_offsets":[0,%d]}`, shape, n)
	}
	scales := func(dtype, shape string, from, to int) string {
		return fmt.Sprintf(`,"a.scales":{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, dtype, shape, from, to)
	}
	for name, c := range map[string]struct {
		header, part string
	}{
		"no scales":       {ints("[2,32]", 64), "no scales"},
		"scales of fp32":  {ints("[2,32]", 64) + scales("F32", "[2,1]", 64, 72), "do not fit"},
		"too few scales":  {ints("[2,32]", 64) + scales("F16", "[1,1]", 64, 66), "do not fit"},
		"rows of 16":      {ints("[4,16]", 64) + scales("F16", "[2]", 64, 68), "do not fit"},
		"scalar":          {ints("[]", 1) + scales("F16", "[0]", 1, 1), "do not fit"},
		"vocab of fp16":   {`"tokenizer.vocab":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}`, "vocabulary"},
		"scales in int8":  {ints("[2,32]", 64) + scales("I8", "[2,1]", 64, 66), ""},
		"scales of empty": {ints("[0]", 0) + scales("F16", "[0]", 0, 0) + `,"a.scales.scales":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}`, "no scales"},
	} {
		refused(t, name, safetensors(own+c.header+"}", 128), c.part)
	}
}

func TestForeignFiles(t *testing.T) {
	u8 := func(name string) []byte {
		return safetensors(`{"`+name+`":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4)
	}
	for name, c := range map[string]struct {
		data []byte
		part string
	}{
		"ggml":      {[]byte("tjgg\x65\x00\x00\x00\x00\x00"), "before GGUF"},
		"pickle":    {[]byte("\x80\x02}q\x00."), "before torch 1.6"},
		"empty":     {nil, "the file is empty"},
		"short":     {[]byte("PK"), "zip"},
		"page":      {[]byte("\n<!DOCTYPE html>\n<html>"), "web page"},
		"pointer":   {[]byte("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"},
		"text":      {[]byte("hello, world"), "neither a torch, a safetensors, a GGUF nor an rwkv.cpp file"},
		"hf":        {u8("model.layers.0.self_attn.q_proj.weight"), "transformers"},
		"peft":      {u8("base_model.model.x.lora_A.weight"), "PEFT"},
		"pip's mm8": {u8("blocks.0.att.key.weight_mx"), "converted by the rwkv package"},
	} {
		refused(t, name, c.data, c.part)
	}
}

func TestWriteSafetensors(t *testing.T) {
	failing := errors.New("out of ideas")
	one := func(typ string, write func(io.Writer) error, shape ...int) []Entry {
		return []Entry{{Name: "a", Type: typ, Shape: shape, Write: write}}
	}
	nothing := func(io.Writer) error { return nil }
	for name, c := range map[string]struct {
		entries []Entry
		part    string
	}{
		"too few bytes": {one("F32", nothing, 1), "tensor a: 0 bytes instead of 4"},
		"its own error": {one("F32", func(io.Writer) error { return failing }, 1), "tensor a: out of ideas"},
		"type":          {one("BOOL", nothing, 1), `type "BOOL"`},
		"shape":         {one("F32", nothing, -1), "impossible shape"},
		"huge shape":    {one("F32", nothing, 1<<30, 1<<30, 1<<30), "impossible shape"},
		"twice":         {append(one("F32", nothing, 0), one("F32", nothing, 0)...), "twice"},
	} {
		if err := WriteSafetensors(io.Discard, c.entries, nil); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := written(t, []Entry{floats(`odd "name"`, []float32{1}, 1), floats("b", []float32{2, 3}, 2)}, map[string]string{"z": "1", "a": "2"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(data)
	if want := `{"__metadata__":{"a":"2","z":"1"},"odd \"name\"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`; string(bytes.TrimRight(data[8:8+n], " ")) != want || (8+n)%headerAlignment != 0 {
		t.Errorf("header %s", data[8:8+n])
	}
}
