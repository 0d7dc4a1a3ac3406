package hostile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// each makes a trial of every command with a file.
func (x *maker) each(family, name, path string, must bool, commands ...string) []trial {
	var out []trial
	for _, c := range commands {
		dir := filepath.Dir(x.path("x"))
		x.check(os.WriteFile(filepath.Join(dir, "ok.txt"), []byte("hi\n"), 0o600))
		args := command(strings.ReplaceAll(c, "ok.txt", filepath.Join(dir, "ok.txt")), path, dir)
		out = append(out, trial{family: family, name: name + ": " + c, args: args, file: path, must: must, memory: 100 << 20})
	}
	return out
}

// nested are texts that nest without an end, where they are parsed.
func (x *maker) nested() (out []trial) {
	const n = 250_000
	deep := func(open string) string { return strings.Repeat(open, n/len(open)) }
	for name, text := range map[string]string{
		"arrays": "a = " + deep("["), "tables": "a = " + deep("{a="), "names": deep("a.") + "a = 1",
		"headers": "[" + deep("a.") + "a]", "quotes": deep(`"a".`) + "a = 1", "unclosed": `a = """` + deep("x\n"),
		"many tables": deep("[[a]]\n"), "dotted tables": deep("[a.b.c.d]\n"), "same key": deep("a = 1\n"),
	} {
		toml := x.file("deep.toml", []byte(text))
		out = append(out, x.each("nesting: TOML", name, toml, true, "run --config FILE hi", "compare --backend cpu --prompts ok.txt --variants FILE")...)
	}
	for name, text := range map[string]string{
		"arrays": deep("["), "objects": deep(`{"a":`), "closed": deep("[") + deep("]"),
		"conversations": `[{"conversations":` + deep("["), "numbers": "[" + deep("1e999,") + "1]", "blanks": "[" + deep(" ") + deep(" "),
		"a number": "[" + deep("9"), "a key": `{"` + deep("k") + `":1}`, "a string": `["` + deep(`\u0000`),
	} {
		json := x.file("deep.json", []byte(text))
		out = append(out, x.each("nesting: JSON", name, json, false, "sessions import --dry-run FILE", "compare --backend cpu --prompts ok.txt --variants FILE", "run --backend cpu -n 1 --json-schema FILE hi")...)
		header := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
		out = append(out, x.each("nesting: JSON", "header of "+name, x.file("deep.safetensors", append(header, text...)), true, "models inspect FILE", "adapters inspect FILE", "states import FILE")...)
	}
	for name, text := range map[string]string{
		"groups": "root ::= " + deep("("), "references": "root ::= a\n" + rules(4000), "itself": "root ::= root root", "repeats": "root ::= " + strings.Repeat("(", 20) + `"a"` + strings.Repeat("{9}){9}", 20),
		"literals": "root ::= " + deep(`"a" | `) + `"a"`, "empty": "",
	} {
		out = append(out, x.each("nesting: grammars", name, x.file("deep.gbnf", []byte(text)), false, "run --backend cpu -n 1 --grammar FILE hi")...)
	}
	for name, text := range map[string]string{"brackets": deep("("), "escapes": deep(`\x41`), "lines": strings.Repeat("1 'a' 1\n", n/8), "concatenation": "1 " + deep("'a' ") + " 1"} {
		out = append(out, x.each("nesting: vocabularies", name, x.file("vocab.txt", []byte(text)), true, "run --backend cpu --vocab FILE hi")...)
	}
	for name, text := range map[string]string{"quotations": strings.Repeat(">", 20_000) + " x", "lists": strings.Repeat("> - ", 8000), "brackets": strings.Repeat("[", 20_000), "formulas": "$" + strings.Repeat(`\frac{`, 10_000) + "$"} {
		json := x.file("chat.json", fmt.Appendf(nil, `[{"conversations":[{"from":"human","value":%q},{"from":"gpt","value":%q}]}]`, text, text))
		dir := filepath.Dir(json)
		out = append(out, x.each("nesting: messages", name, json, false, "sessions import FILE --data-dir DIR/data")...)
		x.rookery("", "sessions", "import", json, "--data-dir", dir)
		for _, args := range [][]string{{"sessions", "ls"}, {"sessions", "search", "x"}, {"sessions", "export", "all"}} {
			out = append(out, trial{family: "nesting: messages", name: name + ": " + args[1], args: append(args, "--data-dir", dir), file: json, memory: 100 << 20})
		}
	}
	return out
}

// rules is a grammar of n rules, each of which is the next one twice.
func rules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d ::= a%d a%d\n", i, i+1, i+1)
	}
	return b.String()
}

// tensors is a safetensors file with a header and room for data.
func tensors(header string, data int64) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, data)...)
}

// weights are files of weights whose figures lie.
func (x *maker) weights() (out []trial) {
	inspect := []string{"models inspect FILE", "adapters inspect FILE", "adapters check FILE --backend cpu", "states import FILE", "run --backend cpu --model FILE hi", "run --backend cpu --adapter FILE hi"}
	entry := func(name, dtype, shape string, from, to int64) string {
		return fmt.Sprintf(`"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shape, from, to)
	}
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"t%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`, i)
	}
	for name, data := range map[string][]byte{
		"header without an end": binary.LittleEndian.AppendUint64(nil, 1<<62),
		"header of the file":    append(binary.LittleEndian.AppendUint64(nil, 1<<24), '{'),
		"short header":          tensors(`{"a":`, 0),
		"bytes after the end":   tensors("{"+entry("emb.weight", "F32", "[1]", 0, 4)+"}", 4096),
		"gap":                   tensors("{"+entry("emb.weight", "F32", "[1]", 4, 8)+"}", 8),
		"overlap":               tensors("{"+entry("a", "F32", "[2]", 0, 8)+","+entry("b", "F32", "[2]", 4, 12)+"}", 12),
		"shape overflow":        tensors("{"+entry("a", "F32", "[4294967296,4294967296]", 0, 4)+"}", 4),
		"shape of zeros":        tensors("{"+entry("emb.weight", "F32", "[0,9223372036854775807]", 0, 0)+"}", 0),
		"negative":              tensors("{"+entry("a", "F32", "[-1]", 0, 4)+"}", 4),
		"fractions":             tensors(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,6]}}`, 6),
		"name of 100 KB":        tensors("{"+entry(strings.Repeat("n", 100_000), "F32", "[1]", 0, 4)+"}", 4),
		"escapes in a name":     tensors("{"+entry(`a\u001b]0;x\u0007\nb`, "F32", "[1]", 0, 4)+"}", 4),
		"100,000 tensors":       tensors("{"+strings.TrimSuffix(many.String(), ",")+"}", 0),
		"a dtype of 100 KB":     tensors("{"+entry("a", strings.Repeat("F", 100_000), "[1]", 0, 4)+"}", 4),
		"64 dimensions":         tensors("{"+entry("emb.weight", "F32", "["+strings.Repeat("1,", 63)+"1]", 0, 4)+"}", 4),
	} {
		out = append(out, x.each("weights: safetensors", name, x.file("w.safetensors", data), true, inspect...)...)
	}
	// An adapter of a rank that no adapter has: nothing but holes.
	rank := int64(1 << 20)
	half := rank * 128 * 4
	head := tensors("{"+entry("blocks.0.att.key.lora_A", "F32", fmt.Sprintf("[%d,128]", rank), 0, half)+","+entry("blocks.0.att.key.lora_B", "F32", fmt.Sprintf("[128,%d]", rank), half, 2*half)+"}", 0)
	out = append(out, x.each("weights: safetensors", "rank of a million", x.sparse("rank.safetensors", head, int64(len(head))+2*half), true,
		"adapters inspect FILE --alpha 1", "adapters check FILE --alpha 1 --backend cpu", "run --backend cpu --alpha 1 --adapter FILE hi")...)
	for name, pickle := range map[string]string{
		"marks": "\x80\x02" + strings.Repeat("(", 1<<20), "lists": "\x80\x02" + strings.Repeat("]", 1<<20), "tuples": "\x80\x02" + strings.Repeat(")\x85", 1<<19) + ".",
		"memo": "\x80\x02]" + strings.Repeat("q\x00h\x00h\x00", 1<<18), "a number": "\x80\x02\x8b\xff\xff\xff\x7f", "a string": "\x80\x02X\xff\xff\xff\x7f", "code": "\x80\x02cos\nsystem\n(X\x04\x00\x00\x00echotR.",
		"nothing": "", "dict": "\x80\x02}(" + strings.Repeat("K\x01}", 1<<19) + "u.",
	} {
		out = append(out, x.each("weights: pth", name, x.file("w.pth", archive(map[string][]byte{"a/data.pkl": []byte(pickle)}, zip.Store)), true, inspect...)...)
	}
	out = append(out, x.each("weights: pth", "a zip bomb", x.file("w.pth", archive(map[string][]byte{"a/data.pkl": make([]byte, 64<<20)}, zip.Deflate)), true, inspect...)...)
	files := map[string][]byte{}
	for i := range 100_000 {
		files[fmt.Sprintf("a/%d", i)] = nil
	}
	out = append(out, x.each("weights: pth", "100,000 entries", x.file("w.pth", archive(files, zip.Store)), true, inspect...)...)
	for name, shape := range map[string]rwkv.Shape{
		"heads of 16": {Version: rwkv.V7, Layers: 1, Embed: 64, Heads: 4, HeadSize: 16, FFN: 64, Vocab: 65536, Ranks: rwkv.Ranks{32, 32, 32, 32}},
	} {
		out = append(out, x.each("weights: models", name, x.model(name, shape, 0), false, "run --backend cpu -n 1 --model FILE hi")...)
	}
	out = append(out, x.each("weights: models", "not finite", x.model("nan", small, 0xff), true, "run --backend cpu -n 1 --model FILE hi", "logits --model FILE --tokens 1,2")...)
	return out
}

// small is a shape with the World vocabulary.
var small = rwkv.Shape{Version: rwkv.V7, Layers: 2, Embed: 64, Heads: 1, HeadSize: 64, FFN: 64, Vocab: 65536, Ranks: rwkv.Ranks{32, 32, 32, 32}}

// model is a model all of whose bytes are one.
func (x *maker) model(name string, shape rwkv.Shape, value byte) string {
	var entries []checkpoint.Entry
	for name, spec := range shape.Tensors() {
		n := 2
		for _, d := range spec.Sizes(shape) {
			n *= d
		}
		entries = append(entries, checkpoint.Entry{Name: name, Type: "BF16", Shape: spec.Sizes(shape), Write: func(w io.Writer) error {
			_, err := w.Write(bytes.Repeat([]byte{value}, n))
			return err
		}})
	}
	var data bytes.Buffer
	x.check(checkpoint.WriteSafetensors(&data, entries, nil))
	return x.file(strings.ReplaceAll(name, " ", "-")+".safetensors", data.Bytes())
}

// archive is a zip file.
func archive(files map[string][]byte, method uint16) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(data); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// shrinking are good models that another program shortens while they are read.
func (x *maker) shrinking() (out []trial) {
	shape := small
	shape.Embed, shape.Heads, shape.FFN = 256, 4, 1024
	data, err := os.ReadFile(x.model("large", shape, 0))
	x.check(err)
	for i := range 40 {
		path := x.file("shrinks.safetensors", data)
		wait := time.Duration(i) * 4 * time.Millisecond
		c := []string{"run --backend cpu -n 1 --weights int8 --model FILE hi", "models convert FILE -o DIR/q.safetensors", "run --backend cpu -n 1 --weights fp32 --model FILE hi", "models inspect FILE"}[i%4]
		t := x.each("shrinking models", fmt.Sprintf("after %v", wait), path, false, c)
		t[0].memory = 600 << 20
		t[0].during = func() {
			time.Sleep(wait)
			_ = syscall.Truncate(path, 1000)
		}
		out = append(out, t...)
	}
	return out
}
