package sampler

import "math"

// filter applies typical and XTC, one after the other, to what truncation kept.
// Chance is a random number from 0 to below 1, for XTC.
func (d *distribution) filter(p Params, chance float64) {
	typical := p.Typical > 0 && p.Typical < 1
	exclude := p.XTC > 0 && chance < float64(p.XTC)
	if !typical && !exclude {
		return
	}
	d.collect(max(d.theta, -math.MaxFloat32), math.MaxFloat32)
	for i := range d.candidates {
		d.candidates[i].mass = d.massOf(d.candidates[i].id)
	}
	d.drop(func(c candidate) bool { return c.mass == 0 })
	if typical {
		d.keepTypical(p.Typical)
	}
	if exclude {
		d.excludeTop(p.XTCThreshold)
	}
	d.reweighed, d.filtered = true, true
	if p.Mode != ModeRapid { // its shares are of the old m
		m := negInf
		for _, c := range d.candidates {
			m = max(m, d.z[c.id])
		}
		d.m = m
	}
}

// keepTypical keeps the candidates whose surprise is nearest to the expected
// one, until they have this share of the mass.
func (d *distribution) keepTypical(share float32) {
	var sum uint64
	for _, c := range d.candidates {
		sum += c.mass
	}
	surprise := func(c candidate) float64 { return math.Log(float64(sum)) - math.Log(float64(c.mass)) }
	var expected float64
	for _, c := range d.candidates {
		expected += float64(c.mass) / float64(sum) * surprise(c)
	}
	for i, c := range d.candidates {
		d.candidates[i].key = keyOf(-float32(math.Abs(surprise(c) - expected)))
	}
	d.copied = append(d.copied[:0], d.candidates...)
	least, _ := cut(d.copied, max(1, uint64(math.Ceil(float64(share)*float64(sum)))), byMass)
	d.drop(func(c candidate) bool { return c.key < least })
}

// excludeTop drops the candidates of at least this share of the mass, but for
// the least likely of them.
func (d *distribution) excludeTop(share float32) {
	var sum uint64
	for _, c := range d.candidates {
		sum += c.mass
	}
	last := uint64(math.MaxUint64)
	for _, c := range d.candidates {
		if float64(c.mass) >= float64(share)*float64(sum) {
			last = min(last, c.mass)
		}
	}
	d.drop(func(c candidate) bool { return c.mass > last })
}

// drop takes candidates, and their logits, away.
func (d *distribution) drop(unwanted func(candidate) bool) {
	kept := d.candidates[:0]
	for _, c := range d.candidates {
		if unwanted(c) {
			d.z[c.id] = negInf
		} else {
			kept = append(kept, c)
		}
	}
	d.candidates = kept
}
