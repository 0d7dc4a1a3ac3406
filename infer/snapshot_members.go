package infer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// version is that of the binary form that holds all of s.
func (s *Snapshot) version() uint16 {
	switch {
	case s.Adapter != "":
		return snapshotAdapted
	case len(s.Members) > 0:
		return snapshotMix
	}
	return snapshotPlain
}

// appendMembers appends the further states of a mix: the weight of the
// snapshot's own state f32, u32 count, and for each name and adapter (u32
// length and bytes), weight f32, flags, state and logits as the snapshot's.
func (s *Snapshot) appendMembers(dst []byte) []byte {
	if len(s.Members) == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(s.Weight))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.Members)))
	for _, v := range s.Members {
		dst = appendBytes(dst, v.Name)
		dst = appendBytes(dst, v.Adapter)
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.Weight))
		dst = append(dst, (&Snapshot{State: v.State, Logits: v.Logits}).flags())
		dst = appendFloats(dst, v.State)
		dst = appendFloats(dst, v.Logits)
	}
	return dst
}

func (d *snapshotReader) readMembers() (own float32, voices []Member) {
	own = d.float("weight")
	n := d.take(4, "number of states")
	if d.err != nil {
		return 0, nil
	}
	count := binary.LittleEndian.Uint32(n)
	if count < 1 || count > maxMembers {
		d.err = fmt.Errorf("a mix of %d further states: it can have 1 to %d", count, maxMembers)
		return 0, nil
	}
	for range count {
		v := Member{Name: string(d.bytes("name")), Adapter: string(d.bytes("adapter")), Weight: d.float("weight")}
		flags := d.byte("flags")
		d.checkFlags(flags)
		v.State = d.floats("state", flags&flagState != 0)
		v.Logits = d.floats("logits", flags&flagLogits != 0)
		voices = append(voices, v)
	}
	return own, voices
}

func (d *snapshotReader) float(field string) float32 {
	if b := d.take(4, field); b != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return 0
}
