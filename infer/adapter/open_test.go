package adapter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

var shape = rwkv.Shape{
	Version: rwkv.V7, Layers: 2, Embed: 64, Heads: 1, HeadSize: 64, FFN: 96, Vocab: 40, Ranks: rwkv.Ranks{8, 8, 8, 8},
}

// A tensors is what a test writes into a file: names and shapes. Values count up.
type tensors map[string][]int

// both gives a tensor to both layers.
func both(t tensors) tensors {
	out := tensors{}
	for name, dims := range t {
		out["blocks.0."+name], out["blocks.1."+name] = dims, dims
	}
	return out
}

func write(t testing.TB, dir string, content tensors, value func(i int) float32) string {
	t.Helper()
	var entries []checkpoint.Entry
	for name, dims := range content {
		n := sizeOf(dims)
		entries = append(entries, checkpoint.Entry{Name: name, Type: "F32", Shape: dims, Write: func(w io.Writer) error {
			var raw []byte
			for i := range n {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(value(i)))
			}
			_, err := w.Write(raw)
			return err
		}})
	}
	var file bytes.Buffer
	if err := checkpoint.WriteSafetensors(&file, entries, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "adapter.safetensors")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func counting(i int) float32 { return float32(i%13) / 16 }

func twos(int) float32 { return 2 }

func ones(_ string, dst []float32, _ int) error {
	for i := range dst {
		dst[i] = 1
	}
	return nil
}

func noBase(string, []float32, int) error { return errors.New("no base in this test") }

func TestForms(t *testing.T) {
	for _, c := range []struct {
		name    string
		content tensors
		options Options
		kinds   string
		rank    int
	}{
		{"LoRA", both(tensors{"att.key.lora_A": {4, 64}, "att.key.lora_B": {64, 4}}), Options{Alpha: 8}, "LoRA", 4},
		{"LoRA of rank 1", both(tensors{"ffn.key.lora_A": {1, 64}, "ffn.key.lora_B": {96, 1}}), Options{Alpha: 8}, "LoRA", 1},
		{"web-rwkv's names", both(tensors{"att.key.lora.0": {64, 4}, "att.key.lora.1": {64, 4}}), Options{Alpha: 8}, "LoRA", 4},
		{"DiSHA", both(tensors{"ffn.key.disha": {24, 96}}), Options{}, "DiSHA", 24},
		{"DiSHA as bone", both(tensors{"ffn.value.bone": {20, 64}}), Options{}, "DiSHA", 20},
		{"BAT told by its shape", both(tensors{"ffn.key.bone": {4, 16, 16}}), Options{}, "BAT", 16},
		{"Bone told by its shape", both(tensors{"ffn.key.bone": {6, 16, 16}}), Options{}, "Bone", 16},
		{"Bone of two dimensions", both(tensors{"ffn.key.bone": {96, 16}}), Options{}, "Bone", 16},
		{"square blocks by columns", both(tensors{"att.key.bone": {4, 16, 16}}), Options{Blocks: BlocksColumn}, "BAT", 16},
		{"square blocks by rows", both(tensors{"att.key.bone": {4, 16, 16}}), Options{Blocks: BlocksRow}, "Bone", 16},
		{"the head alone", tensors{"head.lora_A": {4, 64}, "head.lora_B": {40, 4}}, Options{Scale: 2}, "LoRA", 4},
		{"tensors alone", tensors{"blocks.1.att.x_k": {64}, "ln_out.weight": {64}}, Options{}, "2 tensors", 0},
		{"a layer trained as a whole", tensors{
			"blocks.0.att.key.lora_A": {4, 64}, "blocks.0.att.key.lora_B": {64, 4},
			"blocks.1.att.key.weight": {64, 64}, "blocks.1.ffn.key.weight": {96, 64}, "blocks.1.att.x_k": {1, 1, 64},
		}, Options{Alpha: 4}, "LoRA, 3 tensors", 4},
		{"names in names", tensors{
			"base_model.blocks.0.att.key.lora_A": {4, 64}, "base_model.blocks.0.att.key.lora_B": {64, 4},
			"base_model.model.blocks.1.att.key.lora_A.weight": {4, 64}, "base_model.model.blocks.1.att.key.lora_B.default.weight": {64, 4},
			"model.blocks.1.att.x_k": {64}, "base_model.ln_out.weight": {64},
		}, Options{Alpha: 4}, "LoRA, 2 tensors", 4},
		{"disha of three dimensions", both(tensors{"att.key.disha": {4, 16, 16}}), Options{}, "BAT", 16},
		{"columns told by another tensor", both(tensors{"att.key.bone": {4, 16, 16}, "ffn.key.bone": {4, 16, 16}}), Options{}, "BAT", 16},
		{"rows told by another tensor", both(tensors{"att.key.bone": {4, 16, 16}, "ffn.key.bone": {6, 16, 16}}), Options{}, "Bone", 16},
		{"DoRA by columns", both(tensors{"ffn.key.lora_A": {4, 64}, "ffn.key.lora_B": {96, 4}, "ffn.key.lora_M": {1, 64}}), Options{Alpha: 4}, "DoRA", 4},
		{"DoRA by rows", both(tensors{"ffn.key.lora_A": {4, 64}, "ffn.key.lora_B": {96, 4}, "ffn.key.lora_M": {96, 1}}), Options{Alpha: 4}, "DoRA by rows", 4},
		{"DoRA by columns, upright", both(tensors{"ffn.key.lora_A": {4, 64}, "ffn.key.lora_B": {96, 4}, "ffn.key.lora_M": {64, 1}}), Options{Alpha: 4}, "DoRA", 4},
		{"Bone experts", both(tensors{
			"ffn.router.linear.weight": {1, 64}, "ffn.moe_info": {2},
			"ffn.expert_0.key.bone_expert_0": {4, 16, 16}, "ffn.expert_0.value.bone_expert_0": {6, 16, 16},
		}), Options{}, "MoLE, BAT", 16},
		{"part of the layers", tensors{"blocks.1.att.key.lora_A": {4, 64}, "blocks.1.att.key.lora_B": {64, 4}}, Options{Alpha: 4, Partial: true}, "LoRA", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Open(write(t, t.TempDir(), c.content, twos), shape, ones, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if a.Kinds() != c.kinds || a.Rank() != c.rank {
				t.Errorf("read as %s of rank %d, want %s of rank %d", a.Kinds(), a.Rank(), c.kinds, c.rank)
			}
		})
	}
}

// TestRefusals: each ends in one line that names the tensor.
func TestRefusals(t *testing.T) {
	pair := func(out, in, r int) tensors {
		return both(tensors{"att.key.lora_A": {r, in}, "att.key.lora_B": {out, r}})
	}
	with := func(t tensors, name string, dims ...int) tensors {
		t[name] = dims
		return t
	}
	without := func(t tensors, name string) tensors {
		delete(t, name)
		return t
	}
	for _, c := range []struct {
		name    string
		content tensors
		options Options
		want    string
	}{
		{"another width", pair(128, 128, 4), Options{Alpha: 4}, `"blocks.0.att.key.lora_A": its shape is [4 128]`},
		{"ranks that differ", with(pair(64, 64, 4), "blocks.0.att.key.lora_B", 64, 8), Options{Alpha: 4}, "its rank is 8 and that of its other half 4"},
		{"a half missing", without(pair(64, 64, 4), "blocks.1.att.key.lora_B"), Options{Alpha: 4}, `"blocks.1.att.key.lora_B": it is missing`},
		{"a layer missing", tensors{"blocks.0.att.key.disha": {8, 64}}, Options{}, `"blocks.1.*": nothing for this layer`},
		{"a layer too many", tensors{"blocks.2.att.key.disha": {8, 64}}, Options{}, "the model has 2 layers"},
		{"what nobody knows", with(pair(64, 64, 4), "blocks.0.att.key.magic", 3), Options{Alpha: 4}, `"blocks.0.att.key.magic": no kind of adapter`},
		{"a tensor of another size", tensors{"blocks.0.att.x_k": {32}}, Options{}, "its shape is [32], the model's [64]"},
		{"both at once", with(pair(64, 64, 4), "blocks.0.att.key.bone", 4, 64), Options{Alpha: 4}, "LoRA tensors too"},
		{"a tuned state", both(tensors{"att.time_state": {1, 64, 64}}), Options{}, "it is a tuned state"},
		{"experts without a router", both(tensors{"ffn.expert_0.key.lora_A_expert_0": {4, 64}, "ffn.expert_0.key.lora_B_expert_0": {96, 4}}), Options{Alpha: 4}, `router.linear.weight": it is missing`},
		{"the other direction", both(tensors{"ffn.key.bone": {4, 16, 16}}), Options{Blocks: BlocksRow}, `"blocks.0.ffn.key.bone": its blocks go by column, and the answer was row`},
		{"the other direction of disha", both(tensors{"att.key.disha": {4, 16, 16}}), Options{Blocks: BlocksRow}, `its blocks go by column`},
		{"an odd Bone", both(tensors{"att.key.bone": {5, 7, 7}}), Options{}, "its shape is [5 7 7]"},
		{"an init file that is none", pair(64, 64, 4), Options{Init: "nowhere.pth"}, "nowhere.pth"},
		{"a scale that is none", pair(64, 64, 4), Options{Scale: float32(math.Inf(1))}, "scale +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(write(t, t.TempDir(), c.content, counting), shape, noBase, c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
	nan := func(int) float32 { return float32(math.NaN()) }
	if _, err := Open(write(t, t.TempDir(), pair(64, 64, 4), nan), shape, noBase, Options{Alpha: 1}); err == nil || !strings.Contains(err.Error(), "not numbers") {
		t.Errorf("NaN: %v", err)
	}
}

func TestQuestions(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, both(tensors{"att.key.lora_A": {4, 64}, "att.key.lora_B": {64, 4}, "att.value.bone": {4, 16, 16}}), counting)
	q := new(QuestionError)
	if _, err := Open(path, shape, noBase, Options{}); !errors.As(err, &q) || q.Asked != "alpha" {
		t.Fatalf("no alpha: %v", err)
	}
	if _, err := Open(path, shape, noBase, Options{Alpha: 8}); !errors.As(err, &q) || q.Asked != "blocks" || len(q.Choices) != 2 {
		t.Fatalf("square blocks: %v", err)
	}
	if err := os.WriteFile(Sidecar(path), []byte(`{"alpha": 8, "blocks": "row"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(path, shape, noBase, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Scale() != 2 || a.Layers[0].Deltas[Value].Form != Bone {
		t.Errorf("the sidecar was read as scale %v and %v", a.Scale(), a.Layers[0].Deltas[Value].Form)
	}
	b, err := Open(path, shape, noBase, Options{Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	if b.Scale() != 1 || a.Fingerprint == b.Fingerprint {
		t.Errorf("scale %v, fingerprints %s and %s: another scale is another adapter", b.Scale(), a.Fingerprint, b.Fingerprint)
	}
	for _, bad := range []string{`{"alpha": "much"}`, `{"blocks": "diagonal"}`, `{"init": "../../etc/passwd"}`, strings.Repeat(" ", maxSidecar+1)} {
		if err := os.WriteFile(Sidecar(path), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, shape, noBase, Options{}); err == nil || !strings.Contains(err.Error(), ".json") {
			t.Errorf("sidecar %.20q: %v", bad, err)
		}
	}
}

// TestMerge compares W' x with the forms of the package comment, apart.
func TestMerge(t *testing.T) {
	value := func(i int) float32 { return float32((i*7919+13)%101)/101 - 0.5 }
	const out, in, r = 12, 8, 4
	w, x := make([]float32, out*in), make([]float32, in)
	for i := range w {
		w[i] = value(i)
	}
	for i := range x {
		x[i] = value(1000 + i)
	}
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = value(500 + i)
		}
		return v
	}
	mul := func(m []float32, rows, cols int, x []float32) []float64 {
		y := make([]float64, rows)
		for o := range y {
			for j := range cols {
				y[o] += float64(m[o*cols+j]) * float64(x[j])
			}
		}
		return y
	}
	narrow := func(v []float64) []float32 {
		f := make([]float32, len(v))
		for i, x := range v {
			f[i] = float32(x)
		}
		return f
	}
	for _, d := range []Delta{
		{Form: LoRA, Scale: 1.5, Down: fill(r * in), Up: fill(out * r)},
		{Form: DoRA, Scale: 1.5, Down: fill(r * in), Up: fill(out * r), Gain: fill(in), Inner: fill(2 * in)[in:]},
		{Form: DiSHA, Scale: 1, Up: fill(out * r)},
		{Form: BAT, Scale: 1, Blocks: fill(in * r)},
	} {
		d.Out, d.In, d.Rank = out, in, r
		moved := append([]float32(nil), x...)
		low := make([]float32, r)
		for j, g := range d.Gain {
			moved[j] *= g
		}
		switch d.Form {
		case BAT:
			for b := 0; b < in; b += r {
				z := mul(d.Blocks[b*r:(b+r)*r], r, r, x[b:b+r])
				for i := range z {
					moved[b+i] += float32(z[i])
					low[i] += float32(z[i])
				}
			}
		case DiSHA:
			for j, v := range x {
				low[j%r] += v
			}
		case DoRA:
			inner := append([]float32(nil), x...)
			for j, c := range d.Inner {
				inner[j] *= c
			}
			low = narrow(mul(d.Down, r, in, inner))
		default:
			low = narrow(mul(d.Down, r, in, moved))
		}
		want := mul(w, out, in, moved)
		for o := range want {
			if d.Form == BAT {
				want[o] += float64(low[o%r])
				continue
			}
			for i, v := range low {
				want[o] += float64(d.Scale) * float64(d.Up[o*r+i]) * float64(v)
			}
		}
		merged := append([]float32(nil), w...)
		d.Merge(merged[:5*in], 0)
		d.Merge(merged[5*in:], 5)
		for o, got := range mul(merged, out, in, x) {
			if math.Abs(got-want[o]) > 1e-5 {
				t.Errorf("%v, output %d: %g merged, %g apart", d.Form, o, got, want[o])
			}
		}
	}
}

// TestStrength: with the strength k the weight is W + k·(W' - W), of every form, and so
// are replaced tensors.
func TestStrength(t *testing.T) {
	model := func(name string, dst []float32, off int) error {
		for i := range dst {
			dst[i] = float32((i+off+len(name))%17)/16 - 0.5
		}
		return nil
	}
	const strength = 0.375
	for name, c := range map[string]struct {
		content tensors
		target  Target
		options Options
	}{
		"LoRA":  {tensors{"att.key.lora_A": {4, 64}, "att.key.lora_B": {64, 4}}, Key, Options{Alpha: 2}},
		"DoRA":  {tensors{"att.key.lora_A": {4, 64}, "att.key.lora_B": {64, 4}, "att.key.lora_M": {1, 64}}, Key, Options{Alpha: 2}},
		"rows":  {tensors{"ffn.key.lora_A": {4, 64}, "ffn.key.lora_B": {96, 4}, "ffn.key.lora_M": {96, 1}}, FFNKey, Options{Alpha: 2}},
		"DiSHA": {tensors{"ffn.key.disha": {24, 96}}, FFNKey, Options{}},
		"BAT":   {tensors{"ffn.key.bone": {4, 16, 16}}, FFNKey, Options{}},
		"Bone":  {tensors{"ffn.key.bone": {6, 16, 16}}, FFNKey, Options{}},
	} {
		path := write(t, t.TempDir(), both(c.content), counting)
		weight := rwkv.LayerName(0, string(c.target)+".weight")
		merged := func(k float32) []float32 {
			c.options.Strength = k
			a, err := Open(path, shape, model, c.options)
			if err != nil {
				t.Fatal(err)
			}
			d := a.Layers[0].Deltas[c.target]
			w := make([]float32, d.Out*d.In)
			_ = model(weight, w, 0)
			d.Merge(w, 0)
			return w
		}
		full, part := merged(1), merged(strength)
		w := make([]float32, len(full))
		_ = model(weight, w, 0)
		for i := range w {
			if want := w[i] + strength*(full[i]-w[i]); math.Abs(float64(part[i]-want)) > 1e-5 {
				t.Fatalf("%s, value %d: %g, want %g between %g and %g", name, i, part[i], want, w[i], full[i])
			}
		}
	}
	a, err := Open(write(t, t.TempDir(), tensors{"ln_out.weight": {64}, "blocks.0.att.time_offset": {64}}, counting), shape, model, Options{Strength: strength})
	if err != nil {
		t.Fatal(err)
	}
	var was [64]float32
	_ = model("ln_out.weight", was[:], 0)
	for i, v := range a.Replaced["ln_out.weight"] {
		if want := was[i] + strength*(counting(i)-was[i]); v != want {
			t.Fatalf("replaced value %d: %g, want %g", i, v, want)
		}
		if offset := a.Replaced["blocks.0.att.time_offset"][i]; offset != strength*counting(i) {
			t.Fatalf("offset %d: %g, want %g", i, offset, strength*counting(i))
		}
	}
}

// FuzzOpen feeds whatever names and shapes to the reader: it may only refuse.
func FuzzOpen(f *testing.F) {
	f.Add("blocks.0.att.key.lora_A", 4, 64, "blocks.0.att.key.lora_B", 64, 4)
	f.Add("blocks.1.ffn.router.linear.weight", 2, 64, "blocks.1.ffn.moe_info", 2, 1)
	f.Add("model.blocks.0.att.key.init_lora_A", 4, 64, "head.disha", 3, 40)
	f.Add("blocks.9999.att.key.bone", 16, 16, "blocks.0.ffn.expert_7.value.bone_expert_0", 96, 8)
	f.Fuzz(func(t *testing.T, a string, a0, a1 int, b string, b0, b1 int) {
		for _, n := range []int{a0, a1, b0, b1} {
			if n < 0 || n > 1<<10 {
				return
			}
		}
		if a == b || len(a)+len(b) > 400 {
			return
		}
		dir := t.TempDir()
		path := write(t, dir, tensors{a: {a0, a1}, b: {b0, b1}}, counting)
		if _, err := Open(path, shape, noBase, Options{Alpha: 1, Blocks: BlocksRow, Partial: true}); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is more than a line", fmt.Sprint(err))
		}
	})
}

// A bit that has flipped in an adapter of torch is found when the adapter is read; in
// a safetensors file, which has no checksums, it makes another adapter of it.
func TestFlippedBit(t *testing.T) {
	whole, err := os.ReadFile("../cpu/testdata/adapters/disha.pth")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(whole, []byte("data/1FB")) // padding between the header and the values
	if at < 0 {
		t.Fatal("there is no storage in the file")
	}
	whole[at+256] ^= 0x40
	path := filepath.Join(t.TempDir(), "flipped.pth")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, shape, noBase, Options{}); err == nil || !strings.Contains(err.Error(), "flipped.pth: ") || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a flipped bit: %v", err)
	}
	dir := t.TempDir()
	path = write(t, dir, both(tensors{"ffn.key.disha": {64, 96}}), counting)
	before, err := Open(path, shape, noBase, Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-64*96] ^= 1 // between the samples of a model's fingerprint
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := Open(path, shape, noBase, Options{})
	if err != nil || after.Fingerprint == before.Fingerprint {
		t.Errorf("a changed value keeps the fingerprint %s (%v)", before.Fingerprint, err)
	}
}
