package adapter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// A Base reads the model's weights, which DoRA depends on: it sets dst to values
// [off, off+len(dst)) of a tensor in row-major order. It must be safe for
// concurrent use.
type Base func(name string, dst []float32, off int) error

// BaseOf reads from a checkpoint.
func BaseOf(f *checkpoint.File) Base {
	return func(name string, dst []float32, off int) error {
		t, ok := f.Tensor(name)
		if !ok {
			return refuse(name, "the model has no such weight", "load the model that the adapter was trained on")
		}
		return t.Float32(dst, off)
	}
}

// Open reads an adapter for a model of shape s, whose weights are base. If the
// file and the options leave something open, the error is a *QuestionError; any
// other error names the file and the tensor.
func Open(path string, s rwkv.Shape, base Base, o Options) (_ *Adapter, err error) {
	o, err = o.withSidecar(path)
	if err != nil {
		return nil, err
	}
	f, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return Read(f, s, base, o)
}

// Read is Open for a file that is already open. It reads no sidecar.
func Read(f *checkpoint.File, s rwkv.Shape, base Base, o Options) (_ *Adapter, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	path := f.Path()
	if err := f.Verify(context.Background(), nil); err != nil {
		return nil, err
	}
	r := reader{file: f, path: path, shape: s, base: base, options: o, groups: map[product]*group{}}
	a, err := r.read()
	for _, c := range r.closers {
		err = errors.Join(err, c.Close())
	}
	var fe *checkpoint.FormatError
	if errors.As(err, &fe) && fe.Path == "" {
		fe.Path = path
	}
	return a, err
}

// A product is one weight of the model or of one expert that an adapter changes.
// layer is -1 for the head, expert is -1 without experts.
type product struct {
	layer  int
	target Target
	expert int
}

func (p product) String() string {
	name := string(p.target)
	if p.expert >= 0 {
		name = fmt.Sprintf("ffn.expert_%d.%s", p.expert, strings.TrimPrefix(name, "ffn."))
	}
	if p.layer < 0 {
		return name
	}
	return rwkv.LayerName(p.layer, name)
}

// A group is the tensors that change one product.
type group [partBone + 1]*checkpoint.Tensor

// A reader sorts the tensors of one file into products.
type reader struct {
	file    *checkpoint.File
	path    string
	shape   rwkv.Shape
	base    Base
	options Options
	groups  map[product]*group
	routers map[int]*checkpoint.Tensor
	infos   map[int]*checkpoint.Tensor
	closers []*checkpoint.File
	digests []string // of the adapter's file, and of its init file
	blocks  string   // direction of blocks that some of the tensors tell
	out     Adapter
}

func (r *reader) read() (*Adapter, error) {
	r.out = Adapter{
		Name: strings.TrimSuffix(filepath.Base(r.path), filepath.Ext(r.path)), Path: r.path, Shape: r.shape, Layers: make([]Layer, r.shape.Layers), Replaced: map[string][]float32{},
	}
	r.routers, r.infos = map[int]*checkpoint.Tensor{}, map[int]*checkpoint.Tensor{}
	if err := r.sort(); err != nil {
		return nil, err
	}
	digest, err := r.file.Digest() // not before its shapes are known to be possible
	if err != nil {
		return nil, err
	}
	r.digests = append(r.digests, digest)
	if err := r.sortInit(); err != nil {
		return nil, err
	}
	r.out.Fingerprint = r.fingerprint()
	if err := r.findDirection(); err != nil {
		return nil, err
	}
	for _, at := range slices.SortedFunc(maps.Keys(r.groups), compareProducts) {
		if at.expert >= 0 {
			continue
		}
		d, err := r.delta(at, r.groups[at])
		if err != nil {
			return nil, err
		}
		if at.target == Head {
			r.out.Head = d
		} else {
			l := &r.out.Layers[at.layer]
			if l.Deltas == nil {
				l.Deltas = map[Target]*Delta{}
			}
			l.Deltas[at.target] = d
		}
	}
	if err := r.experts(); err != nil {
		return nil, err
	}
	return &r.out, r.complete()
}

func compareProducts(a, b product) int {
	return cmp.Or(a.layer-b.layer, strings.Compare(string(a.target), string(b.target)), a.expert-b.expert)
}

// fingerprint is a hash of what is in the files and of the options that change its
// meaning.
func (r *reader) fingerprint() string {
	o := r.options
	text := fmt.Sprintf("%s alpha=%v scale=%v strength=%v blocks=%s", r.digests, o.Alpha, o.Scale, o.strength(), o.Blocks)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// sort assigns every tensor to its product or to what it replaces.
func (r *reader) sort() error {
	known, most := map[string][]int{}, 0
	for name, spec := range r.shape.Tensors() {
		known[name] = spec.Sizes(r.shape)
		most = max(most, sizeOf(known[name]))
	}
	isKnown := func(name string) bool { return known[name] != nil }
	for _, name := range r.file.Names() {
		t, _ := r.file.Tensor(name)
		if t.Len() > most { // before any of it is read
			return refuse(name, fmt.Sprintf("its shape is %v, which is more than the model's largest weight has", t.Shape), "the adapter is of another model")
		}
		at := locate(name, r.shape, isKnown)
		if at.layer >= r.shape.Layers {
			return refuse(name, fmt.Sprintf("the model has %d layers", r.shape.Layers), "the adapter is of a larger model")
		}
		switch at.part {
		case partNone:
			return refuse(name, "no kind of adapter that is known has such a tensor", "")
		case partReplaced:
			name := plainName(name)
			if err := r.replace(name, t, known[name]); err != nil {
				return err
			}
		case partState:
			r.out.HasState = true
		case partOffset:
			if err := r.replace(plainName(name), t, []int{r.shape.Embed}); err != nil {
				return err
			}
		case partRouter:
			r.routers[at.layer] = t
		case partMoleInfo:
			r.infos[at.layer] = t
		default:
			r.group(at)[at.part] = t
		}
	}
	return nil
}

func (r *reader) group(at place) *group {
	key := product{at.layer, at.target, at.expert}
	if r.groups[key] == nil {
		r.groups[key] = new(group)
	}
	return r.groups[key]
}

// sortInit reads the initial values of a PiSSA adapter.
func (r *reader) sortInit() error {
	if r.options.Init == "" {
		return nil
	}
	f, err := checkpoint.Open(r.options.Init)
	if err != nil {
		return fmt.Errorf("the values as training began: %w", err)
	}
	r.closers = append(r.closers, f)
	if err := f.Verify(context.Background(), nil); err != nil {
		return err
	}
	digest, err := f.Digest()
	if err != nil {
		return err
	}
	r.digests = append(r.digests, digest)
	found := 0
	for _, name := range f.Names() {
		at := locate(name, r.shape, func(string) bool { return false })
		if at.part != partInitA && at.part != partInitB || at.layer >= r.shape.Layers {
			continue
		}
		found++
		t, _ := f.Tensor(name)
		r.group(at)[at.part] = t
	}
	if found == 0 {
		return fmt.Errorf("%s: no init_lora_A or init_lora_B in it; name the file that the trainer wrote before its first step", r.options.Init)
	}
	return nil
}

// replace keeps a tensor that takes the place of one of the model's.
func (r *reader) replace(name string, t *checkpoint.Tensor, want []int) error {
	if !slices.Equal(t.Shape, want) && t.Len() != sizeOf(want) {
		return refuse(name, fmt.Sprintf("its shape is %v, the model's %v", t.Shape, want), "the adapter is of another model")
	}
	v, err := values(t)
	if k := r.options.strength(); err == nil && k != 1 {
		err = r.interpolate(name, v, k)
	}
	r.out.Replaced[name] = v
	return err
}

// interpolate makes a replaced tensor the model's plus k times the difference. A
// tensor that no model has counts from 0.
func (r *reader) interpolate(name string, v []float32, k float32) error {
	was := make([]float32, len(v))
	if !strings.HasSuffix(name, "."+TimeOffset) {
		if err := r.base(name, was, 0); err != nil {
			return err
		}
	}
	for i, to := range v {
		v[i] = was[i] + k*(to-was[i])
	}
	return nil
}

// complete refuses an adapter that changes nothing, or nothing in some layers.
func (r *reader) complete() error {
	if r.out.Head == nil && len(r.groups) == 0 && len(r.out.Replaced) == 0 {
		remedy := ""
		if r.out.HasState {
			remedy = "it is a tuned state: import it with `rookery states import`"
		}
		return &checkpoint.FormatError{Problem: "there is no adapter in it", Remedy: remedy}
	}
	if r.options.Partial || len(r.groups) == 0 {
		return nil
	}
	for i := range r.out.Layers {
		l := &r.out.Layers[i]
		if l.Experts == nil && len(l.Deltas) == 0 && !r.onlyHead() && !r.replacesIn(i) {
			return refuse(rwkv.LayerName(i, "*"), "nothing for this layer, and something for others",
				"the file is cut short; if it was trained on part of the layers, give partial")
		}
	}
	return nil
}

// replacesIn says whether tensors of a layer are replaced: some trainers train single
// layers as a whole.
func (r *reader) replacesIn(layer int) bool {
	for name := range r.out.Replaced {
		if strings.HasPrefix(name, rwkv.LayerName(layer, "")) {
			return true
		}
	}
	return false
}

func (r *reader) onlyHead() bool {
	for at := range r.groups {
		if at.layer >= 0 {
			return false
		}
	}
	return true
}

func refuse(tensor, problem, remedy string) error {
	return &checkpoint.FormatError{Tensor: tensor, Problem: problem, Remedy: remedy}
}

func sizeOf(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// values reads a tensor and refuses NaN and infinities.
func values(t *checkpoint.Tensor) ([]float32, error) {
	v := make([]float32, t.Len())
	if err := t.Float32(v, 0); err != nil {
		return nil, err
	}
	for _, x := range v {
		if x-x != 0 {
			return nil, refuse(t.Name, "it holds values that are not numbers", "training has failed, use an earlier file")
		}
	}
	return v, nil
}
