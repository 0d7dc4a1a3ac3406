package cpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rookery/infer/checkpoint"
	"rookery/infer/native"
	"rookery/infer/rwkv"
)

// A layout writes a model's tensors as some program does, or is nil for versions that
// the program does not know.
type fileLayout struct {
	name, ending string
	write        func(w io.Writer, v rwkv.Version, tensors []checkpoint.Entry) error
	convert      checkpoint.DType // what rookery models convert makes of it then; 0: nothing
	knows        []rwkv.Version   // nil: all
}

var newest = []rwkv.Version{rwkv.V6, rwkv.V7}

// layouts are the columns of the table in docs/formats.md.
var fileLayouts = []fileLayout{
	{"pth", ".pth", writePlain(checkpoint.WritePth), 0, nil},
	{"safetensors", ".safetensors", writeSafetensors, 0, nil},
	{"web-rwkv", ".safetensors", writeWeb, 0, []rwkv.Version{rwkv.V52, rwkv.V6, rwkv.V7}},
	{"fla", ".safetensors", writeFLA, 0, []rwkv.Version{rwkv.V7}},
	{"rwkv.cpp", ".bin", writeCpp, 0, []rwkv.Version{rwkv.V4, rwkv.V52, rwkv.V6, rwkv.V7}},
	{"gguf F32", ".gguf", nil, checkpoint.F32, newest},
	{"gguf F16", ".gguf", nil, checkpoint.F16, newest},
	{"gguf Q8_0", ".gguf", nil, checkpoint.Q8, newest},
	{"int8", ".safetensors", nil, checkpoint.Q8, nil},
}

// TestFormats opens a model of each version in each format and compares its logits
// after 70 tokens with the public reference's, in standard deviations of the logits.
// "make formats" prints the table.
func TestFormats(t *testing.T) {
	var goldens, seven []golden
	readJSON(t, "testdata/versions.json", &goldens)
	readJSON(t, "testdata/golden.json", &seven)
	goldens = append(goldens, seven...)
	var table strings.Builder
	table.WriteString("| version |")
	for _, l := range fileLayouts {
		fmt.Fprintf(&table, " %s |", l.name)
	}
	table.WriteString(" GPU |\n|---|" + strings.Repeat("---|", len(fileLayouts)+1) + "\n")
	for _, v := range rwkv.Runnable() {
		i := slices.IndexFunc(goldens, func(g golden) bool {
			return g.shape().Version == v && !g.Tuned && len(g.Marks) > 1 && g.Embed*g.Vocab < 1<<20 && slices.ContainsFunc(g.Marks, func(m mark) bool { return m.After == 70 })
		})
		if i < 0 {
			t.Fatalf("no golden of %s", v)
		}
		fmt.Fprintf(&table, "| %s |", v)
		for _, l := range fileLayouts {
			cell := "–"
			if l.knows == nil || slices.Contains(l.knows, v) {
				off := l.difference(t, goldens[i])
				bound := map[checkpoint.DType]float64{0: 1e-5, checkpoint.F32: 1e-5, checkpoint.F16: 0.01, checkpoint.Q8: 0.3}[l.convert]
				if !(off <= bound) {
					t.Errorf("%s as %s: off by %.2g standard deviations, more than %g", v, l.name, off, bound)
				}
				cell = fmt.Sprintf("%.1g", off)
			}
			fmt.Fprintf(&table, " %s |", cell)
		}
		gpu := "refused"
		if native.Runs(v) {
			gpu = "runs"
		}
		fmt.Fprintf(&table, " %s |\n", gpu)
	}
	t.Log("\n" + table.String())
	if path := os.Getenv("FORMATS_TABLE"); path != "" {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// difference writes the golden's model, opens it and compares.
func (l fileLayout) difference(t *testing.T, g golden) float64 {
	t.Helper()
	s := g.shape()
	path := filepath.Join(t.TempDir(), "model"+l.ending)
	write := l.write
	if write == nil {
		write = writeSafetensors
		path = filepath.Join(t.TempDir(), "model.safetensors")
	}
	out, err := os.Create(path)
	if err == nil {
		err = errors.Join(write(out, s.Version, syntheticEntries(s, g.Seed)), out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, path)
	if l.convert != 0 {
		path = filepath.Join(t.TempDir(), "converted"+l.ending)
		if err := checkpoint.Convert(t.Context(), f, path, checkpoint.Conversion{Weights: l.convert, Tensors: s.Matrices(l.convert != checkpoint.Q8)}); err != nil {
			t.Fatal(err)
		}
		f = openFile(t, path)
	}
	shape, err := rwkv.Detect(f)
	if err != nil {
		t.Fatalf("%s as %s: %v", s.Version, l.name, err)
	}
	b, err := Load(t.Context(), f, shape, Options{Weights: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b)
	i := slices.IndexFunc(g.Marks, func(m mark) bool { return m.After == 70 })
	got := logits(t, b, 0, goldenTokens(70, g.Vocab))
	worst := 0.0
	for j, want := range floats(t, g.Marks[i].Logits) {
		if d := math.Abs(float64(got[j*max(g.Stride, 1)]-want)) / g.Marks[i].Std; !(d <= worst) {
			worst = d
		}
	}
	return worst
}

func openFile(t *testing.T, path string) *checkpoint.File {
	t.Helper()
	f, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// syntheticEntries are the tensors of a synthetic model in fp32.
func syntheticEntries(s rwkv.Shape, seed uint64) []checkpoint.Entry {
	values := SyntheticValues(s, seed)
	var out []checkpoint.Entry
	for name, spec := range s.Tensors() {
		shape := spec.Sizes(s)
		out = append(out, checkpoint.Entry{Name: name, Type: "F32", Shape: shape, Write: func(w io.Writer) error {
			v := make([]float32, spec.Len(s))
			return errors.Join(values(name, v, 0), binary.Write(w, binary.LittleEndian, v))
		}})
	}
	return out
}

func writePlain(write func(io.Writer, []checkpoint.Entry) error) func(io.Writer, rwkv.Version, []checkpoint.Entry) error {
	return func(w io.Writer, _ rwkv.Version, tensors []checkpoint.Entry) error { return write(w, tensors) }
}

func writeSafetensors(w io.Writer, _ rwkv.Version, tensors []checkpoint.Entry) error {
	return checkpoint.WriteSafetensors(w, tensors, nil)
}

// writeWeb is what web-rwkv's converter makes of a model, but for fp16.
func writeWeb(w io.Writer, _ rwkv.Version, tensors []checkpoint.Entry) error {
	for i, e := range tensors {
		name := strings.NewReplacer("time_faaaa", "time_first", "time_maa", "time_mix").Replace(e.Name)
		if isLowRank(e) {
			tensors[i] = turned(e)
		}
		tensors[i].Name = name
	}
	return checkpoint.WriteSafetensors(w, tensors, nil)
}

// writeFLA names tensors as flash-linear-attention does.
func writeFLA(w io.Writer, _ rwkv.Version, tensors []checkpoint.Entry) error {
	names := strings.NewReplacer("blocks.", "model.layers.", ".ln0.", ".pre_norm.", ".ln1.", ".attn_norm.", ".ln2.", ".ffn_norm.", ".att.ln_x.", ".attn.g_norm.",
		".att.receptance.", ".attn.r_proj.", ".att.key.", ".attn.k_proj.", ".att.value.", ".attn.v_proj.", ".att.output.", ".attn.o_proj.",
		"emb.", "model.embeddings.", "ln_out.", "model.norm.", "head.", "lm_head.", ".att.", ".attn.")
	for i, e := range tensors {
		name, last := names.Replace(e.Name), e.Name[strings.LastIndexByte(e.Name, '.')+1:]
		if len(last) == 2 && strings.Contains("wavg", last[:1]) && strings.Contains("012", last[1:]) {
			if last[1] != '0' {
				e = turned(e)
			}
			part := map[byte]string{'0': "2.bias", '1': "0.weight", '2': "2.weight"}[last[1]]
			name = strings.TrimSuffix(name, last) + last[:1] + "_lora.lora." + part
		}
		e.Name = name
		tensors[i] = e
	}
	return checkpoint.WriteSafetensors(w, tensors, nil)
}

// writeCpp is what rwkv.cpp's converter writes.
func writeCpp(w io.Writer, v rwkv.Version, tensors []checkpoint.Entry) error {
	_, err := w.Write(binary.LittleEndian.AppendUint32([]byte("fmgg"), 101))
	err = errors.Join(err, binary.Write(w, binary.LittleEndian, [4]uint32{256, 1, 1, 0}))
	for _, e := range tensors {
		last := e.Name[strings.LastIndexByte(e.Name, '.')+1:]
		switch {
		case isLowRank(e):
			e = turned(e)
		case last == "time_decay" && v == rwkv.V4:
			e = mapped(e, func(x float64) float64 { return -math.Exp(x) })
		case last == "time_decay" && v == rwkv.V52:
			e = mapped(e, func(x float64) float64 { return math.Exp(-math.Exp(x)) })
		}
		if strings.HasPrefix(last, "x_") && strings.Contains(e.Name, ".att.") {
			e, err = fused(e, tensors, err)
			if e.Name == "" {
				continue
			}
		}
		err = errors.Join(err, binary.Write(w, binary.LittleEndian, [3]uint32{uint32(len(e.Shape)), uint32(len(e.Name)), 0}))
		for _, d := range slices.Backward(e.Shape) {
			err = errors.Join(err, binary.Write(w, binary.LittleEndian, uint32(d)))
		}
		_, failed := io.WriteString(w, e.Name)
		err = errors.Join(err, failed, e.Write(w))
	}
	return err
}

// fused joins the mixes of a layer of RWKV-7 in place of the first one; the others
// become nothing.
func fused(e checkpoint.Entry, all []checkpoint.Entry, err error) (checkpoint.Entry, error) {
	prefix, isFirst := strings.CutSuffix(e.Name, "x_r")
	if !isFirst {
		return checkpoint.Entry{}, err
	}
	out := checkpoint.Entry{Name: prefix + "x_rwkvag", Shape: []int{6, e.Shape[len(e.Shape)-1]}, Write: func(w io.Writer) error {
		var err error
		for _, x := range "rwkvag" {
			i := slices.IndexFunc(all, func(e checkpoint.Entry) bool { return e.Name == prefix+"x_"+string(x) })
			err = errors.Join(err, all[i].Write(w))
		}
		return err
	}}
	return out, err
}

// isLowRank says whether converters transpose a tensor.
func isLowRank(e checkpoint.Entry) bool {
	last := e.Name[strings.LastIndexByte(e.Name, '.')+1:]
	return len(e.Shape) > 1 && (strings.HasSuffix(last, "_w1") || strings.HasSuffix(last, "_w2") || len(last) == 2 && strings.Contains("wavg", last[:1]) && last[1] != '0')
}

// turned is a tensor with its last two dimensions exchanged.
func turned(e checkpoint.Entry) checkpoint.Entry {
	shape := slices.Clone(e.Shape)
	n := len(shape)
	rows, cols := shape[n-2], shape[n-1]
	shape[n-2], shape[n-1] = cols, rows
	return rewritten(e, shape, func(v []float32) []float32 {
		out := make([]float32, len(v))
		for i := range v {
			at, r, c := i/(rows*cols)*(rows*cols), i%(rows*cols)/cols, i%cols
			out[at+c*rows+r] = v[i]
		}
		return out
	})
}

// mapped is a tensor with a function of its values.
func mapped(e checkpoint.Entry, of func(float64) float64) checkpoint.Entry {
	return rewritten(e, e.Shape, func(v []float32) []float32 {
		for i, x := range v {
			v[i] = float32(of(float64(x)))
		}
		return v
	})
}

func rewritten(e checkpoint.Entry, shape []int, change func([]float32) []float32) checkpoint.Entry {
	write, n := e.Write, 1
	for _, d := range shape {
		n *= d
	}
	e.Shape, e.Write = shape, func(w io.Writer) error {
		var raw strings.Builder
		if err := write(&raw); err != nil {
			return err
		}
		v := make([]float32, n)
		if err := binary.Read(strings.NewReader(raw.String()), binary.LittleEndian, v); err != nil {
			return err
		}
		return binary.Write(w, binary.LittleEndian, change(v))
	}
	return e
}
