package adapter

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"rookery/infer/checkpoint"
)

// doraEps keeps DoRA's gain finite. The trainer has the same value.
const doraEps = 1e-6

// delta reads the change of one product.
func (r *reader) delta(at product, g *group) (*Delta, error) {
	low := g[partLoraA] != nil || g[partLoraB] != nil || g[partLoraM] != nil
	switch {
	case low && g[partBone] != nil:
		return nil, refuse(g[partBone].Name, "this product has LoRA tensors too", "only one of both can be meant")
	case g[partBone] != nil:
		return r.bone(at, g[partBone])
	case low:
		return r.lowRank(at, g)
	default:
		return nil, refuse(at.String()+".lora_A", "it is missing, and its values as training began are there", "give the adapter's file and the init file of the same run")
	}
}

// lowRank reads LoRA, PiSSA and DoRA.
func (r *reader) lowRank(at product, g *group) (*Delta, error) {
	out, in := r.shape.TargetSize(string(at.target))
	rank, err := pairRank(at, g[partLoraA], g[partLoraB], "lora", out, in)
	if err != nil {
		return nil, err
	}
	d := &Delta{Form: LoRA, Out: out, In: in, Rank: rank, Scale: 1}
	if d.Down, err = values(g[partLoraA]); err != nil {
		return nil, err
	}
	if d.Up, err = values(g[partLoraB]); err != nil {
		return nil, err
	}
	if g[partInitA] != nil || g[partInitB] != nil {
		return d, r.pissa(d, at, g)
	}
	if r.options.Init != "" {
		return nil, refuse(at.String()+".init_lora_A", "it is missing in the init file", "give the init file of the same run")
	}
	if d.Scale, err = r.scale(rank); err != nil {
		return nil, err
	}
	if g[partLoraM] != nil {
		err = r.dora(d, at, g[partLoraM])
	}
	d.Scale *= r.strengthOf(at)
	return d, err
}

// pairRank checks A [r, in] and B [out, r] and gives r.
func pairRank(at product, a, b *checkpoint.Tensor, name string, out, in int) (int, error) {
	for _, side := range []struct {
		t    *checkpoint.Tensor
		name string
	}{{a, name + "_A"}, {b, name + "_B"}} {
		if side.t == nil {
			return 0, refuse(at.String()+"."+side.name, "it is missing and its other half is there", "the file is incomplete, download it again")
		}
	}
	// Package checkpoint drops leading dimensions of 1.
	rank := a.Len() / in
	switch {
	case rank < 1 || a.Len() != rank*in || len(a.Shape) == 2 && a.Shape[1] != in:
		return 0, refuse(a.Name, fmt.Sprintf("its shape is %v, and this product has %d inputs", a.Shape, in), "the adapter is of another model")
	case b.Len()%out != 0 || len(b.Shape) == 2 && b.Shape[0] != out:
		return 0, refuse(b.Name, fmt.Sprintf("its shape is %v, and this product has %d outputs", b.Shape, out), "the adapter is of another model")
	case b.Len()/out != rank:
		return 0, refuse(b.Name, fmt.Sprintf("its rank is %d and that of its other half %d", b.Len()/out, rank), "the file is damaged")
	}
	return rank, nil
}

// strengthOf is what the change of a product is multiplied with. Experts are not
// changed: what they give is weighed against what the model gives without them.
func (r *reader) strengthOf(at product) float32 {
	if at.expert >= 0 {
		return 1
	}
	return r.options.strength()
}

// scale is alpha/rank.
func (r *reader) scale(rank int) (float32, error) {
	switch o := r.options; {
	case o.Scale != 0:
		return o.Scale, nil
	case o.Alpha != 0:
		return o.Alpha / float32(rank), nil
	}
	return 0, &QuestionError{Path: r.path, Asked: "alpha", Problem: fmt.Sprintf("a LoRA file does not say its alpha (its rank is %d)", rank)}
}

// pissa combines B A - B0 A0 into one product of twice the rank.
func (r *reader) pissa(d *Delta, at product, g *group) error {
	rank, err := pairRank(at, g[partInitA], g[partInitB], "init_lora", d.Out, d.In)
	if err != nil {
		return err
	}
	if rank != d.Rank {
		return refuse(g[partInitA].Name, fmt.Sprintf("its rank is %d and the adapter's %d", rank, d.Rank), "give the init file of the same run")
	}
	down, err := values(g[partInitA])
	if err != nil {
		return err
	}
	up, err := values(g[partInitB])
	if err != nil {
		return err
	}
	wide := make([]float32, 0, 2*len(up))
	for o := range d.Out {
		wide = append(wide, d.Up[o*rank:(o+1)*rank]...)
		for _, v := range up[o*rank : (o+1)*rank] {
			wide = append(wide, -v)
		}
	}
	d.Form, d.Scale, d.Rank, d.Up, d.Down = PiSSA, r.strengthOf(at), 2*rank, wide, append(d.Down, down...)
	return nil
}

// dora computes the gains, which depend on the columns of the model's weight. With
// the strength k the merged weight is W + k·(V∘c - W) = W∘(1-k+k·c) + k·s·B A∘c.
func (r *reader) dora(d *Delta, at product, m *checkpoint.Tensor) error {
	byRows := len(m.Shape) == 2 && m.Shape[1] == 1 && m.Shape[0] == d.Out
	if m.Len() != d.In && !byRows {
		return refuse(m.Name, fmt.Sprintf("its shape is %v, and this product's weight is [%d, %d]", m.Shape, d.Out, d.In), "the adapter is of another model")
	}
	magnitude, err := values(m)
	if err != nil {
		return err
	}
	if byRows {
		return d.scaleRows(r.base, at.String()+".weight", magnitude, float64(r.strengthOf(at)))
	}
	norms, err := d.columnNorms(r.base, at.String()+".weight")
	if err != nil {
		return err
	}
	d.Form, d.Gain, d.Inner = DoRA, make([]float32, d.In), make([]float32, d.In)
	k := float64(r.strengthOf(at))
	for j := range d.Gain {
		c := float64(magnitude[j]) / (norms[j] + doraEps)
		d.Gain[j], d.Inner[j] = float32(1-k+k*c), float32(c)
	}
	return nil
}

// scaleRows is dora for magnitudes [out, 1]: those of the rows of V, as in the paper.
// The merged weight is W_i∘(1-k+k·c_i) + k·s·B_i A·c_i, c_i = M_i / (‖V_i‖ + 1e-6).
func (d *Delta) scaleRows(base Base, weight string, magnitude []float32, k float64) error {
	d.Form, d.Outer = DoRARows, make([]float32, d.Out)
	row, was := make([]float32, d.In), make([]float32, d.In)
	plain := Delta{Form: LoRA, Out: d.Out, In: d.In, Rank: d.Rank, Scale: d.Scale, Down: d.Down, Up: d.Up}
	for o := range d.Out {
		if err := base(weight, row, o*d.In); err != nil {
			return err
		}
		plain.mergeRow(row, was, o)
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		c := float64(magnitude[o]) / (math.Sqrt(sum) + doraEps)
		d.Outer[o] = float32(1 - k + k*c)
		for i := range d.Rank { // the rows before have their norms already
			d.Up[o*d.Rank+i] *= float32(c)
		}
	}
	return nil
}

// columnNorms are the column norms of W + s·B A, computed on all processors. Each
// sum has a fixed order.
func (d *Delta) columnNorms(base Base, weight string) ([]float64, error) {
	const cols = 256 // of one task
	norms := make([]float64, d.In)
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	for lo := 0; lo < d.In; lo += cols {
		hi := min(lo+cols, d.In)
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			if err := d.squares(norms[lo:hi], base, weight, lo); err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	wg.Wait()
	return norms, failed
}

// squares sets the norms of columns lo and on.
func (d *Delta) squares(norms []float64, base Base, weight string, lo int) error {
	row := make([]float32, len(norms))
	for o := range d.Out {
		if err := base(weight, row, o*d.In+lo); err != nil {
			return err
		}
		for k := range d.Rank {
			b := d.Scale * d.Up[o*d.Rank+k]
			down := d.Down[k*d.In+lo:]
			for j := range row {
				row[j] += b * down[j]
			}
		}
		for j, v := range row {
			norms[j] += float64(v) * float64(v)
		}
	}
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
	}
	return nil
}
