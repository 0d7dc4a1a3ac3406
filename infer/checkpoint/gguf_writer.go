package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// A ggufTensor is one to be written.
type ggufTensor struct {
	name  string
	dtype DType
	dims  []int // the outermost first
	write func(w io.Writer) error
}

func (t *ggufTensor) bytes() int64 {
	n := int64(1)
	for _, d := range t.dims {
		n *= int64(d)
	}
	return t.dtype.bytes(n)
}

// A ggufWriter collects a GGUF file as llama.cpp's converter lays it out.
type ggufWriter struct {
	file    *File
	convert Conversion
	version string // "rwkv6" or "rwkv7"
	names   ggufArch
	tensors []ggufTensor
	header  []byte
	entries uint64
}

// planGGUF is for RWKV-6 and RWKV-7, the versions that GGUF has names for.
func (c Conversion) planGGUF(f *File) (plan, error) {
	g := &ggufWriter{file: f, convert: c}
	switch {
	case slicesContainSuffix(f.order, ".att.r_k"):
		g.version = "rwkv7"
	case slicesContainSuffix(f.order, ".att.time_maa_x"):
		g.version = "rwkv6"
	default:
		return plan{}, errors.New("GGUF has RWKV-6 and RWKV-7 alone; write .safetensors or .pth")
	}
	g.names = ggufArchs[g.version]
	if err := g.collect(); err != nil {
		return plan{}, err
	}
	if err := g.describe(); err != nil {
		return plan{}, err
	}
	p := plan{write: g.write}
	for i := range g.tensors {
		p.total += g.tensors[i].bytes()
	}
	return p, nil
}

// collect names all tensors.
func (g *ggufWriter) collect() error {
	for _, t := range g.file.order {
		layer, rest := "", t.Name
		if after, ok := strings.CutPrefix(t.Name, "blocks."); ok {
			layer, rest, _ = strings.Cut(after, ".")
		}
		if err := g.add(t, layer, rest); err != nil {
			return err
		}
	}
	return nil
}

// add adds a tensor, or those that it is a part of.
func (g *ggufWriter) add(t *Tensor, layer, rest string) error {
	base, kind := cutLast(rest)
	prefix := "blk." + layer + "."
	whole, _ := cutLast(t.Name)
	for name, released := range ggufModel {
		if released == whole {
			g.put(name+"."+kind, t)
			return nil
		}
	}
	for _, n := range ggufLayer {
		if n.released == base {
			g.put(prefix+n.gguf+"."+kind, t)
			return nil
		}
	}
	for i, name := range g.names.fused {
		if name == rest {
			if i == 0 {
				return g.putFused(prefix, layer)
			}
			return nil
		}
	}
	for _, n := range g.names.layer {
		if n.released == rest {
			g.putSmall(prefix+n.gguf+".weight", t, n.transposed)
			// Layer 0 has no use for a value residual; llama.cpp wants copies of another.
			if c, ok := strings.CutPrefix(rest, "att.a"); ok && layer == "0" && g.version == "rwkv7" {
				g.putSmall(prefix+"time_mix_v"+c+".weight", t, n.transposed)
			}
			return nil
		}
	}
	if layer == "0" && strings.HasPrefix(rest, "att.v") {
		return nil
	}
	return fmt.Errorf("tensor %s: GGUF has no name for it", t.Name)
}

// put adds a tensor of the model; large matrices in the type of the conversion, others
// in fp32.
func (g *ggufWriter) put(name string, t *Tensor) {
	dims, dtype := t.Shape, F32
	if len(dims) == 2 {
		dtype = g.typeOf(t)
	}
	g.tensors = append(g.tensors, ggufTensor{name, dtype, dims, func(w io.Writer) error { return t.writeGGUF(w, dtype) }})
}

// typeOf is the type of a large matrix.
func (g *ggufWriter) typeOf(t *Tensor) DType {
	switch d := g.convert.typeOf(t); {
	case d == Q8:
		return Q8_0
	case d == t.DType && t.blocked() && t.stride == nil && t.alter == nil:
		return d
	case d == F32 || d == F16 || d == BF16:
		return d
	case d.Packed():
		return F16
	}
	return F32
}

// putSmall adds a vector or a low-rank matrix in fp32, which holds it exactly.
func (g *ggufWriter) putSmall(name string, t *Tensor, transposed bool) {
	turned := &Tensor{
		Name: t.Name, DType: t.DType, Shape: append([]int(nil), t.Shape...), stride: append([]int(nil), t.stride...),
		image: t.image, member: t.member, offset: t.offset, scales: t.scales, alter: t.alter,
	}
	if t.stride == nil {
		turned.stride = nil
	}
	if transposed {
		turned.transposeLast()
	}
	dims := turned.Shape
	switch {
	case strings.HasSuffix(name, "r_k.weight"):
		dims = []int{t.Len()}
	case strings.Contains(name, "lerp"):
		dims = []int{1, 1, t.Len()}
	}
	g.tensors = append(g.tensors, ggufTensor{name, F32, dims, func(w io.Writer) error { return turned.writeAs(w, F32) }})
}

// putFused adds the mixes of a layer as one tensor.
func (g *ggufWriter) putFused(prefix, layer string) error {
	var parts []*Tensor
	for _, name := range g.names.fused {
		t, ok := g.file.byName["blocks."+layer+"."+name]
		if !ok {
			return fmt.Errorf("tensor blocks.%s.%s: missing", layer, name)
		}
		parts = append(parts, t)
	}
	g.tensors = append(g.tensors, ggufTensor{prefix + ggufFused + ".weight", F32, []int{len(parts), 1, 1, parts[0].Len()}, func(w io.Writer) error {
		for _, t := range parts {
			if err := t.writeAs(w, F32); err != nil {
				return err
			}
		}
		return nil
	}})
	return nil
}

// write writes the file.
func (g *ggufWriter) write(w io.Writer) error {
	if _, err := w.Write(g.header); err != nil {
		return err
	}
	for i := range g.tensors {
		t := &g.tensors[i]
		counter := countingWriter{to: w}
		if err := t.write(&counter); err != nil {
			return fmt.Errorf("writing tensor %s: %w", t.name, err)
		}
		if counter.n != t.bytes() {
			return fmt.Errorf("writing tensor %s: %d bytes instead of %d", t.name, counter.n, t.bytes())
		}
		if _, err := w.Write(make([]byte, (defaultAlign-counter.n%defaultAlign)%defaultAlign)); err != nil {
			return err
		}
	}
	return nil
}

// cutLast cuts a name before its last part.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}
