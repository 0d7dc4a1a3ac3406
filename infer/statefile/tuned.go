package statefile

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// An Order is how the matrices of a time_state lie in a file.
type Order uint8

// The orders. The released trainers write [head, value, key]: RWKV-LM,
// RWKV-PEFT and RWKV-LM-RLHF, for every version. With FLA kernels, RWKV-PEFT of the
// first days of February 2025 wrote [head, key, value]. Files converted for
// web-rwkv (.st) have that order too.
const (
	OrderAuto Order = iota // KeyValue for .st files that are not our own, else ValueKey
	OrderValueKey
	OrderKeyValue
)

// Options say how to read a file. The zero value is right for most.
type Options struct {
	Order Order
	// WithoutOffset ignores the time_offset tensors of a file.
	WithoutOffset bool
}

// Bounds of a state; the largest released models have 61 layers of 64 heads, or 5,120
// channels that count as heads of their own.
const (
	maxLayers   = 512
	maxHeads    = 1 << 16
	maxHeadSize = 256
)

const (
	layerPrefix = "blocks."
	stateName   = "att.time_state"
	offsetName  = "att.time_offset"
)

// A TensorError says which tensor keeps a file from being a state, and why.
type TensorError struct {
	Path, Tensor, Problem string
}

func (e *TensorError) Error() string {
	return fmt.Sprintf("%s: tensor %q: %s", e.Path, e.Tensor, e.Problem)
}

// readTuned reads the time_state of every layer from a file of nothing else, from one
// that has an adapter too, or from a model that it was merged into.
func readTuned(f *checkpoint.File, o Options) (*State, error) {
	r := tunedReader{file: f, merged: isModel(f), withoutOffset: o.WithoutOffset}
	if err := r.survey(); err != nil {
		return nil, err
	}
	shape, err := r.shape()
	if err != nil {
		return nil, err
	}
	state := make([]float32, shape.StateLen())
	for i, t := range r.layers {
		first, last := shape.StatePart(i, rwkv.PartWKV)
		if err := r.read(t, state[first:last], shape, r.order(o)); err != nil {
			return nil, err
		}
	}
	return &State{
		Name: nameOf(f.Path()), Kind: Tuned, Source: filepath.Base(f.Path()), Shape: shape, Created: time.Now(),
		Snapshot: &infer.Snapshot{State: state},
	}, nil
}

// isModel says whether a file has the weights of a model, into which a state may
// have been merged.
func isModel(f *checkpoint.File) bool {
	_, emb := f.Tensor("emb.weight")
	_, key := f.Tensor("blocks.0.att.key.weight")
	return emb && key
}

// nameOf makes a state's name of a path.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

type tunedReader struct {
	file          *checkpoint.File
	merged        bool
	withoutOffset bool
	layers        []*checkpoint.Tensor
}

func (r *tunedReader) refuse(tensor, format string, args ...any) error {
	return &TensorError{Path: r.file.Path(), Tensor: tensor, Problem: fmt.Sprintf(format, args...)}
}

// survey finds the state of every layer and refuses other tensors, unless the file
// is a model or has an adapter too.
func (r *tunedReader) survey() error {
	found := map[int]*checkpoint.Tensor{}
	for _, name := range r.file.Names() {
		t, _ := r.file.Tensor(name)
		layer, rest, ok := splitLayer(name)
		switch {
		case ok && layer >= maxLayers && (rest == stateName || rest == offsetName):
			return r.refuse(name, "more than %d layers", maxLayers)
		case ok && rest == stateName:
			found[layer] = t
		case ok && rest == offsetName:
			if err := r.checkOffset(t); err != nil && !r.withoutOffset {
				return err
			}
		case !r.merged && !adapter.MayBelong(name):
			return r.refuse(name, "a tuned state has no such tensor; if the trainer wrote a file of the state alone, use that one")
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: there is no tuned state in it: no tensor is called blocks.0.%s", r.file.Path(), stateName)
	}
	for i := range len(found) {
		if found[i] == nil {
			return r.refuse(layerPrefix+strconv.Itoa(i)+"."+stateName, "it is missing, and later layers have theirs; the file is incomplete")
		}
		r.layers = append(r.layers, found[i])
	}
	return nil
}

// splitLayer splits "blocks.N.rest".
func splitLayer(name string) (layer int, rest string, ok bool) {
	for _, prefix := range []string{"base_model.", "model."} {
		name = strings.TrimPrefix(name, prefix)
	}
	after, ok := strings.CutPrefix(name, layerPrefix)
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(after, ".")
	layer, err := strconv.Atoi(number)
	if !ok || err != nil || layer < 0 || strconv.Itoa(layer) != number {
		return 0, "", false
	}
	return layer, rest, true
}

// checkOffset refuses a time_offset that is not zero. It scales what a layer reads
// from its state at every token, which only an adapter can do.
func (r *tunedReader) checkOffset(t *checkpoint.Tensor) error {
	if !floating(t.DType) {
		return r.refuse(t.Name, "its values are %s; only floating point is read", t.DType)
	}
	values := make([]float32, min(t.Len(), 4096))
	for off := 0; off < t.Len(); off += len(values) {
		part := values[:min(len(values), t.Len()-off)]
		if err := t.Float32(part, off); err != nil {
			return err
		}
		for _, v := range part {
			if v != 0 {
				return r.refuse(t.Name, "post-wkv tuning (time_offset) changes how the model computes: import the state with --without-offset, and use the same file as an adapter too")
			}
		}
	}
	return nil
}

// shape is the one that all layers have.
func (r *tunedReader) shape() (rwkv.Shape, error) {
	var first rwkv.Shape
	for i, t := range r.layers {
		var heads, size int
		switch d := t.Shape; {
		case len(d) == 3 && d[1] == d[2]:
			heads, size = d[0], d[1]
		case len(d) == 2 && d[0] == d[1]: // one head; a leading 1 is not kept
			heads, size = 1, d[0]
		default:
			return first, r.refuse(t.Name, "its shape is %v, not [heads, size, size]", t.Shape)
		}
		if heads < 1 || heads > maxHeads || size < 1 || size > maxHeadSize {
			return first, r.refuse(t.Name, "%d heads of %d cannot be", heads, size)
		}
		if i == 0 {
			first = rwkv.TimeStateShape(len(r.layers), heads, size)
		}
		if heads != first.Heads || size != first.HeadSize {
			return first, r.refuse(t.Name, "%d heads of %d, and layer 0 has %d of %d", heads, size, first.Heads, first.HeadSize)
		}
		if !floating(t.DType) {
			return first, r.refuse(t.Name, "its values are %s; only floating point is read", t.DType)
		}
	}
	return first, nil
}

func floating(d checkpoint.DType) bool {
	return d == checkpoint.F32 || d == checkpoint.F16 || d == checkpoint.BF16 || d == checkpoint.F64
}

// order is the order of the file's matrices. Package checkpoint has transposed those
// of a model converted for web-rwkv already.
func (r *tunedReader) order(o Options) Order {
	switch {
	case o.Order != OrderAuto:
		return o.Order
	case strings.EqualFold(filepath.Ext(r.file.Path()), ".st") && !r.merged && r.file.Metadata()["writer"] != ownWriter:
		return OrderKeyValue
	}
	return OrderValueKey
}

// read converts one layer's matrices to [value, key] and checks them.
func (r *tunedReader) read(t *checkpoint.Tensor, dst []float32, shape rwkv.Shape, order Order) error {
	err := t.Verify()
	if err == nil {
		err = t.Float32(dst, 0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.file.Path(), err)
	}
	n := shape.HeadSize
	for i, v := range dst {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return r.refuse(t.Name, "its value %d is %v; the training went wrong or the file is damaged", i, v)
		}
	}
	if order == OrderKeyValue {
		for h := range shape.Heads {
			transpose(dst[h*n*n:(h+1)*n*n], n)
		}
	}
	return nil
}

// transpose turns an n by n matrix in place.
func transpose(m []float32, n int) {
	for i := range n {
		for j := range i {
			m[i*n+j], m[j*n+i] = m[j*n+i], m[i*n+j]
		}
	}
}
