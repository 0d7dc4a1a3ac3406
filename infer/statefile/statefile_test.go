package statefile

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
	"time"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
	"rookery/infer/scripted"
)

var small = rwkv.Shape{Version: rwkv.V7, Layers: 2, Embed: 8, Heads: 2, HeadSize: 4}

// value is the value of a state at a layer, head, value row and key column.
func value(layer, head, v, k int) float32 {
	return float32(1000*layer + 100*head + 10*v + k)
}

// A tensor is one to be written.
type tensor struct {
	name, dtype string
	shape       []int
	values      []float32
}

// timeState is a layer's time_state in [value, key] order, or turned.
func timeState(layer int, turned bool) tensor {
	t := tensor{fmt.Sprintf("blocks.%d.att.time_state", layer), "F32", []int{2, 4, 4}, nil}
	for h := range 2 {
		for i := range 4 {
			for j := range 4 {
				if turned {
					t.values = append(t.values, value(layer, h, j, i))
				} else {
					t.values = append(t.values, value(layer, h, i, j))
				}
			}
		}
	}
	return t
}

func (t tensor) entry() checkpoint.Entry {
	return checkpoint.Entry{Name: t.name, Type: t.dtype, Shape: t.shape, Write: func(w io.Writer) error {
		var out []byte
		for _, v := range t.values {
			bits := math.Float32bits(v)
			switch t.dtype {
			case "F32":
				out = binary.LittleEndian.AppendUint32(out, bits)
			case "F64":
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(float64(v)))
			case "BF16":
				out = binary.LittleEndian.AppendUint16(out, uint16(bits>>16))
			case "F16":
				half := make([]uint16, 1)
				checkpoint.Halves(half, []float32{v})
				out = binary.LittleEndian.AppendUint16(out, half[0])
			case "U8":
				out = append(out, byte(v))
			}
		}
		_, err := w.Write(out)
		return err
	}}
}

// file writes tensors as .safetensors under a name.
func file(t *testing.T, name string, tensors ...tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var entries []checkpoint.Entry
	for _, x := range tensors {
		entries = append(entries, x.entry())
	}
	if err := errors.Join(checkpoint.WriteSafetensors(f, entries, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkValues says that a state is that of timeState.
func checkValues(t *testing.T, s *State) {
	t.Helper()
	if s.Shape != small || len(s.Snapshot.State) != small.StateLen() {
		t.Fatalf("shape %+v, %d values", s.Shape, len(s.Snapshot.State))
	}
	for l := range 2 {
		for i := range 2 * small.Embed {
			if v := s.Snapshot.State[l*small.LayerStateLen()+i]; v != 0 {
				t.Fatalf("layer %d: shift %d is %g", l, i, v)
			}
		}
		for h := range 2 {
			for v := range 4 {
				for k := range 4 {
					if got := s.Snapshot.State[small.WKV(l)+16*h+4*v+k]; got != value(l, h, v, k) {
						t.Fatalf("layer %d, head %d, value %d, key %d: %g, want %g", l, h, v, k, got, value(l, h, v, k))
					}
				}
			}
		}
	}
}

// A file of a tuned state does not say for which version it is: it fits every version
// whose states have its parts. A state of a conversation fits its own version alone.
func TestTunedStateFitsOlderVersions(t *testing.T) {
	tuned, err := Read(file(t, "a.safetensors", timeState(0, false), timeState(1, false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &infer.Model{Name: "an older one", Shape: small}
	m.Shape.Version, m.Shape.FFN = rwkv.V6, 28
	if err := tuned.Check(m); err != nil {
		t.Error(err)
	}
	saved := *tuned
	saved.Kind = Saved
	if err := saved.Check(m); err == nil || !strings.Contains(err.Error(), "it is RWKV-7 (x070), not RWKV-6 (x060)") {
		t.Error(err)
	}
	m.Shape.Layers = 3
	if err := tuned.Check(m); err == nil || !strings.Contains(err.Error(), "2 layers") {
		t.Error(err)
	}
}

// RWKV-4 has no matrices for a trainer's file.
func TestStatesWithoutMatrices(t *testing.T) {
	shape := rwkv.Shape{Version: rwkv.V4, Layers: 2, Embed: 6, Heads: 6, HeadSize: 1}
	s := &State{Name: "old", Kind: Saved, Shape: shape, Snapshot: &infer.Snapshot{State: make([]float32, shape.StateLen())}}
	if err := s.Write(io.Discard, Pth); err == nil || !strings.Contains(err.Error(), "write it as .rkstate") {
		t.Error(err)
	}
	s.Snapshot.State[5] = 3
	data, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := back.UnmarshalBinary(data); err != nil || back.Shape != shape || !slices.Equal(back.Snapshot.State, s.Snapshot.State) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestReadTuned(t *testing.T) {
	offset := tensor{"blocks.0.att.time_offset", "F32", []int{8}, make([]float32, 8)}
	model := []tensor{
		{"emb.weight", "F32", []int{1, 8}, make([]float32, 8)},
		{"blocks.0.att.key.weight", "F32", []int{1, 1}, make([]float32, 1)},
	}
	with := func(dtype string) []tensor {
		a, b := timeState(1, false), timeState(0, false)
		a.dtype, b.dtype = dtype, dtype
		return []tensor{a, b}
	}
	for _, c := range []struct {
		what, path string
		order      Order
	}{
		{"fp32, layers in any order", file(t, "a.safetensors", with("F32")...), OrderAuto},
		{"fp64", file(t, "a.safetensors", with("F64")...), OrderAuto},
		{"fp16", file(t, "a.safetensors", with("F16")...), OrderAuto},
		{"an offset that does nothing", file(t, "a.safetensors", append(with("F32"), offset)...), OrderAuto},
		{"merged into a model", file(t, "a.safetensors", append(with("F32"), model...)...), OrderAuto},
		{"turned, as was asked for", file(t, "a.safetensors", timeState(0, true), timeState(1, true)), OrderKeyValue},
		{"turned, by its name", file(t, "a.st", timeState(0, true), timeState(1, true)), OrderAuto},
		{"not turned, as was asked for", file(t, "a.st", timeState(0, false), timeState(1, false)), OrderValueKey},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, err := Read(c.path, Options{Order: c.order})
			if err != nil {
				t.Fatal(err)
			}
			checkValues(t, s)
			if s.Name != "a" || s.Kind != Tuned {
				t.Errorf("%q, %s", s.Name, s.Kind)
			}
		})
	}
}

// A model with a single head has no dimension for it: a leading 1 is not kept.
func TestOneHead(t *testing.T) {
	s, err := Read(file(t, "one.safetensors", tensor{"blocks.0.att.time_state", "BF16", []int{1, 2, 2}, []float32{1, 2, 3, 4}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot.State[s.Shape.WKV(0):]; !slices.Equal(got, []float32{1, 2, 3, 4}) || s.Shape.Heads != 1 || s.Shape.Embed != 2 {
		t.Errorf("%v in %+v", got, s.Shape)
	}
}

// A file may have an adapter beside the state, and names may have the prefixes of
// trainers.
func TestStateBesideAnAdapter(t *testing.T) {
	a, b := timeState(0, false), timeState(1, false)
	a.name, b.name = "base_model."+a.name, "model."+b.name
	lora := tensor{"blocks.0.att.key.lora_A", "F32", []int{1, 8}, make([]float32, 8)}
	s, err := Read(file(t, "a.safetensors", a, b, lora, tensor{"blocks.1.ln1.weight", "F32", []int{8}, make([]float32, 8)}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, s)
}

func TestRefusedTuned(t *testing.T) {
	a, b := timeState(0, false), timeState(1, false)
	changed := func(x tensor, change func(*tensor)) tensor {
		x.values = slices.Clone(x.values)
		change(&x)
		return x
	}
	for _, c := range []struct {
		what    string
		tensors []tensor
		says    []string
	}{
		{"a layer is missing", []tensor{a, changed(b, func(x *tensor) { x.name = "blocks.2.att.time_state" })}, []string{`"blocks.1.att.time_state"`, "missing"}},
		{"another tensor", []tensor{a, b, {"blocks.0.att.key.magic", "F32", []int{1}, []float32{1}}, {"optimizer.step", "F32", []int{1}, []float32{1}}}, []string{`"optimizer.step"`}},
		{"not a number", []tensor{a, changed(b, func(x *tensor) { x.values[9] = float32(math.NaN()) })}, []string{`"blocks.1.att.time_state"`, "value 9 is NaN"}},
		{"infinity", []tensor{changed(a, func(x *tensor) { x.values[0] = float32(math.Inf(-1)) }), b}, []string{`"blocks.0.att.time_state"`, "-Inf"}},
		{"not square", []tensor{a, changed(b, func(x *tensor) { x.shape = []int{2, 2, 8} })}, []string{`"blocks.1.att.time_state"`, "[2 2 8]"}},
		{"other heads", []tensor{a, changed(b, func(x *tensor) { x.shape, x.values = []int{1, 4, 4}, x.values[:16] })}, []string{`"blocks.1.att.time_state"`, "1 heads of 4, and layer 0 has 2 of 4"}},
		{"whole numbers", []tensor{changed(a, func(x *tensor) { x.dtype = "U8" }), b}, []string{`"blocks.0.att.time_state"`, "uint8"}},
		{"post-wkv tuning", []tensor{a, b, {"blocks.1.att.time_offset", "F32", []int{8}, []float32{0, 0, 0, 0, 0, 0, 0, 0.5}}}, []string{`"blocks.1.att.time_offset"`, "--without-offset"}},
		{"nothing", []tensor{{"emb.weight", "F32", []int{1}, []float32{1}}}, []string{"no tuned state"}},
		{"a model alone", []tensor{{"emb.weight", "F32", []int{1}, []float32{1}}, {"blocks.0.att.key.weight", "F32", []int{1}, []float32{1}}}, []string{"no tuned state"}},
		{"layers without end", []tensor{{"blocks.99999.att.time_state", "F32", []int{2, 2}, make([]float32, 4)}}, []string{"more than 512 layers"}},
		{"a giant head", []tensor{{"blocks.0.att.time_state", "U8", []int{300, 300}, make([]float32, 90000)}}, []string{"1 heads of 300"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := file(t, "x.safetensors", c.tensors...)
			s, err := Read(path, Options{})
			if err == nil {
				t.Fatalf("read %+v", s.Shape)
			}
			for _, say := range append(c.says, path) {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("%q does not say %q", err, say)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

// kept is a state with all that can be kept.
func kept() *State {
	s := &State{
		Key: 1 << 60, Name: "book", Kind: Baked, Source: "book.txt", Model: "f", ModelName: "m", Shape: small, Tokens: []int32{5, 0, 65535},
		Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Snapshot: &infer.Snapshot{Model: "f", Tokenizer: "t", Position: 3, State: make([]float32, small.StateLen())},
	}
	for i := range s.Snapshot.State {
		s.Snapshot.State[i] = float32(i) / 7
	}
	return s
}

// written writes a state and reads it again.
func written(t *testing.T, s *State, format Format) (*State, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book."+string(format))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write(f, format), f.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out, path
}

func TestOwnFormKeepsEverything(t *testing.T) {
	s := kept()
	got, path := written(t, s, Own)
	if got.Key != s.Key || got.Name != s.Name || got.Kind != s.Kind || got.Source != s.Source || got.Model != s.Model || got.ModelName != s.ModelName ||
		got.Shape != s.Shape || !slices.Equal(got.Tokens, s.Tokens) || !got.Created.Equal(s.Created) ||
		got.Snapshot.Tokenizer != "t" || got.Snapshot.Position != 3 || !slices.Equal(got.Snapshot.State, s.Snapshot.State) {
		t.Errorf("read %+v", got)
	}
	if lost := s.Lost(Own); lost != "" {
		t.Errorf("it says that it loses %s", lost)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data {
		bad := slices.Clone(data)
		bad[at] ^= 0x10
		if err := new(State).UnmarshalBinary(bad); err == nil {
			t.Fatalf("byte %d was changed, and it was read", at)
		}
		if err := new(State).UnmarshalBinary(data[:at]); err == nil {
			t.Fatalf("cut at %d, and it was read", at)
		}
	}
}

func TestTrainersFormsKeepTheMatrices(t *testing.T) {
	for _, format := range []Format{Safetensors, Pth} {
		s := kept()
		got, _ := written(t, s, format)
		if got.Kind != Tuned || got.Name != "book" || got.Shape != small || len(got.Tokens) > 0 {
			t.Errorf("%s: read %+v", format, got)
		}
		for l := range small.Layers {
			at := small.WKV(l)
			if !slices.Equal(got.Snapshot.State[at:at+32], s.Snapshot.State[at:at+32]) {
				t.Errorf("%s: layer %d is another one", format, l)
			}
		}
		if s.Lost(format) == "" {
			t.Errorf("%s says that nothing is lost", format)
		}
		if lost := got.Lost(format); lost != "" {
			t.Errorf("%s of a tuned state loses %q", format, lost)
		}
	}
}

func TestBegin(t *testing.T) {
	m := scripted.Model()
	s := &State{Name: "s", Kind: Tuned, Shape: ShapeOf(m), Snapshot: &infer.Snapshot{State: make([]float32, m.Shape.StateLen()), Position: 9}}
	got, err := s.Begin(m)
	if err != nil || got.Position != 0 || got.Model != m.Fingerprint || got.Tokenizer != m.Tokenizer.Fingerprint() {
		t.Errorf("%+v, %v", got, err)
	}
	for what, change := range map[string]func(*State){
		"of 24 layers": func(s *State) { s.Shape.Layers = 24 },
		"of 64 heads":  func(s *State) { s.Shape.Heads = 64 },
		"other":        func(s *State) { s.Model = "other" },
		"damaged":      func(s *State) { s.Snapshot = &infer.Snapshot{} },
	} {
		bad := *s
		bad.ModelName = what
		change(&bad)
		if _, err := bad.Begin(m); err == nil || !strings.Contains(err.Error(), m.Name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The same weights, rounded otherwise.
	hash := strings.Repeat("0a", 16)
	rounded := *m
	rounded.Fingerprint = hash + "-fp16"
	s.Model = hash + "-int8"
	if _, err := s.Begin(&rounded); err != nil {
		t.Error(err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	data, err := kept().AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(State)
		if err := s.UnmarshalBinary(data); err == nil && len(s.Snapshot.State) != s.Shape.StateLen() {
			t.Errorf("read %+v with %d values", s.Shape, len(s.Snapshot.State))
		}
	})
}
