package adapter

import (
	"fmt"
	"math"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// maxExperts bounds the number of experts in a file.
const maxExperts = 256

// experts reads the mixtures of experts.
func (r *reader) experts() error {
	for i := range r.out.Layers {
		router, info := r.routers[i], r.infos[i]
		if router == nil && info == nil {
			if err := r.noStray(i); err != nil {
				return err
			}
			continue
		}
		e, err := r.mixture(i, router, info)
		if err != nil {
			return err
		}
		r.out.Layers[i].Experts = e
	}
	return nil
}

// noStray refuses experts without a router.
func (r *reader) noStray(layer int) error {
	for at := range r.groups {
		if at.layer == layer && at.expert >= 0 {
			return refuse(rwkv.LayerName(layer, "ffn.router.linear.weight"), "it is missing and experts are there", "the file is incomplete, download it again")
		}
	}
	return nil
}

func (r *reader) mixture(layer int, router, info *checkpoint.Tensor) (*Experts, error) {
	name := func(s string) string { return rwkv.LayerName(layer, "ffn."+s) }
	if router == nil || info == nil {
		missing := name("router.linear.weight")
		if router != nil {
			missing = name("moe_info")
		}
		return nil, refuse(missing, "it is missing", "the file is incomplete, download it again")
	}
	counts, err := values(info)
	if err != nil {
		return nil, err
	}
	if len(counts) != 2 || counts[0] < 2 || counts[0] > maxExperts || counts[1] < 1 || counts[1] > counts[0] ||
		counts[0] != float32(math.Trunc(float64(counts[0]))) || counts[1] != float32(math.Trunc(float64(counts[1]))) {
		return nil, refuse(info.Name, fmt.Sprintf("%v where two whole numbers are needed: 2 to %d experts and how many are used", counts, maxExperts), "")
	}
	n := int(counts[0])
	if router.Len() != (n-1)*r.shape.Embed {
		return nil, refuse(router.Name, fmt.Sprintf("its shape is %v where [%d, %d] is needed", router.Shape, n-1, r.shape.Embed), "the adapter is of another model")
	}
	e := &Experts{Active: int(counts[1]), Strength: r.options.strength(), Key: make([]*Delta, n), Value: make([]*Delta, n)}
	if e.Router, err = values(router); err != nil {
		return nil, err
	}
	for at, g := range r.groups {
		if at.layer != layer || at.expert < 0 {
			continue
		}
		if at.expert >= n {
			return nil, refuse(at.String(), fmt.Sprintf("there are %d experts", n), "the file is damaged")
		}
		d, err := r.delta(at, g)
		if err != nil {
			return nil, err
		}
		if at.target == FFNKey {
			e.Key[at.expert] = d
		} else {
			e.Value[at.expert] = d
		}
	}
	return e, nil
}
