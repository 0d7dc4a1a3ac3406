package infer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"rookery/infer/sampler"
)

// The binary form of a snapshot, all numbers little endian:
//
//	magic "RKSN", version u16
//	model, tokenizer, adapter each u32 length and bytes
//	position                  u64
//	flags                     u8: bit 0 State is not nil, bit 1 Logits is not nil
//	state, pending, logits    each u32 count and that many float32, int32, float32
//	draws                     u64
//	counts                    u32 count and that many (token i32, n f32, first f32)
//	tail                      u32 length and bytes
//	weight                    f32
//	members                   u32 count and that many: name and adapter (each u32
//	                          length and bytes), weight f32, flags, state, logits
//	crc32c                    u32, of everything before it
//
// Programs before the first release wrote versions 1 to 4, with other layouts.
const (
	snapshotMagic   = "RKSN"
	snapshotVersion = 5
	snapshotHeader  = len(snapshotMagic) + 2
	checksumSize    = 4
	countSize       = 12

	flagState  = 1 << 0
	flagLogits = 1 << 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendBinary appends the binary form of s to dst. It keeps the bits of every
// float.
func (s *Snapshot) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = grow(dst, s.binarySize())
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, snapshotVersion)
	dst = appendBytes(dst, s.Model)
	dst = appendBytes(dst, s.Tokenizer)
	dst = appendBytes(dst, s.Adapter)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.Position))
	dst = append(dst, flagsOf(s.State, s.Logits))
	dst = appendFloats(dst, s.State)
	dst = appendInts(dst, s.Pending)
	dst = appendFloats(dst, s.Logits)
	dst = binary.LittleEndian.AppendUint64(dst, s.Sampler.Draws)
	dst = appendCounts(dst, s.Sampler.Counts)
	dst = appendBytes(dst, s.Tail)
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(s.Weight))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.Members)))
	for _, m := range s.Members {
		dst = appendBytes(dst, m.Name)
		dst = appendBytes(dst, m.Adapter)
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(m.Weight))
		dst = append(dst, flagsOf(m.State, m.Logits))
		dst = appendFloats(dst, m.State)
		dst = appendFloats(dst, m.Logits)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli)), nil
}

// MarshalBinary returns the binary form of s.
func (s *Snapshot) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary reads the binary form into s. It refuses damaged, truncated and
// foreign data, which leaves s as it was. It allocates no more than the length of
// data accounts for.
func (s *Snapshot) UnmarshalBinary(data []byte) error {
	body, err := checkedBody(data)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	d := snapshotReader{data: body}
	out := Snapshot{Model: string(d.bytes("model")), Tokenizer: string(d.bytes("tokenizer")), Adapter: string(d.bytes("adapter"))}
	out.Position = d.position()
	flags := d.flags()
	out.State = d.floats("state", flags&flagState != 0)
	out.Pending = d.ints("pending token")
	out.Logits = d.floats("logits", flags&flagLogits != 0)
	out.Sampler = sampler.Memory{Draws: d.uint64("draws"), Counts: d.counts()}
	if tail := d.bytes("tail"); len(tail) > 0 {
		out.Tail = append([]byte(nil), tail...)
	}
	out.Weight = d.float("weight")
	out.Members = d.members()
	if d.err == nil && len(d.data) > 0 {
		d.err = fmt.Errorf("%d bytes too many", len(d.data))
	}
	if d.err != nil {
		return fmt.Errorf("snapshot: %w", d.err)
	}
	*s = out
	return nil
}

// checkedBody verifies magic, version and checksum and returns the bytes between
// version and checksum.
func checkedBody(data []byte) ([]byte, error) {
	if len(data) < snapshotHeader+checksumSize || string(data[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errors.New("this is not a snapshot")
	}
	if v := binary.LittleEndian.Uint16(data[len(snapshotMagic):]); v != snapshotVersion {
		return nil, fmt.Errorf("version %d, but this program reads version %d", v, snapshotVersion)
	}
	end := len(data) - checksumSize
	if crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, errors.New("the checksum does not match: the data is damaged")
	}
	return data[snapshotHeader:end], nil
}

func flagsOf(state, logits []float32) byte {
	var f byte
	if state != nil {
		f |= flagState
	}
	if logits != nil {
		f |= flagLogits
	}
	return f
}

// binarySize is the length of the binary form.
func (s *Snapshot) binarySize() int {
	const fixed = 9*4 + 2*8 + 1 + 4 // nine lengths, position and draws, flags, weight
	n := snapshotHeader + fixed + len(s.Model) + len(s.Tokenizer) + len(s.Adapter) + len(s.Tail) + checksumSize +
		4*(len(s.State)+len(s.Pending)+len(s.Logits)) + countSize*len(s.Sampler.Counts)
	for _, m := range s.Members {
		n += 4*4 + 4 + 1 + len(m.Name) + len(m.Adapter) + 4*(len(m.State)+len(m.Logits)) // four lengths, weight, flags
	}
	return n
}

// grow makes room for n more bytes without changing the length.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	out := make([]byte, len(b), len(b)+n)
	copy(out, b)
	return out
}

func appendBytes[T string | []byte](dst []byte, v T) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	return append(dst, v...)
}

func appendFloats(dst []byte, v []float32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	at, size := len(dst), 4*len(v)
	dst = grow(dst, size)[:at+size]
	putFloats(dst[at:], v)
	return dst
}

// putFloats writes v to dst, four values at a time: states are megabytes.
func putFloats(dst []byte, v []float32) {
	for len(v) >= 4 && len(dst) >= 16 {
		binary.LittleEndian.PutUint64(dst[0:8], uint64(math.Float32bits(v[0]))|uint64(math.Float32bits(v[1]))<<32)
		binary.LittleEndian.PutUint64(dst[8:16], uint64(math.Float32bits(v[2]))|uint64(math.Float32bits(v[3]))<<32)
		v, dst = v[4:], dst[16:]
	}
	for i, x := range v {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
}

// getFloats is the inverse of putFloats; len(src) is 4*len(v).
func getFloats(v []float32, src []byte) {
	for len(v) >= 4 && len(src) >= 16 {
		a, b := binary.LittleEndian.Uint64(src[0:8]), binary.LittleEndian.Uint64(src[8:16])
		v[0], v[1] = math.Float32frombits(uint32(a)), math.Float32frombits(uint32(a>>32))
		v[2], v[3] = math.Float32frombits(uint32(b)), math.Float32frombits(uint32(b>>32))
		v, src = v[4:], src[16:]
	}
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func appendInts(dst []byte, v []int32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
	}
	return dst
}

func appendCounts(dst []byte, v []sampler.Count) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	for _, c := range v {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.Token))
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(c.N))
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(c.First))
	}
	return dst
}

// A snapshotReader takes fields off the front of data. After the first error,
// which it keeps, it returns zero values.
type snapshotReader struct {
	data []byte
	err  error
}

// take returns the next n bytes, which alias the input.
func (d *snapshotReader) take(n uint64, field string) []byte {
	if d.err != nil {
		return nil
	}
	if n > uint64(len(d.data)) {
		d.err = fmt.Errorf("%s: %d bytes announced, %d left", field, n, len(d.data))
		return nil
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out
}

// list returns the bytes of a counted list of elements of size bytes.
func (d *snapshotReader) list(size uint64, field string) []byte {
	n := d.take(4, field)
	if n == nil {
		return nil
	}
	return d.take(size*uint64(binary.LittleEndian.Uint32(n)), field)
}

func (d *snapshotReader) bytes(field string) []byte { return d.list(1, field) }

func (d *snapshotReader) byte(field string) byte {
	if b := d.take(1, field); b != nil {
		return b[0]
	}
	return 0
}

func (d *snapshotReader) uint64(field string) uint64 {
	if b := d.take(8, field); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *snapshotReader) position() int {
	p := d.uint64("position")
	if d.err == nil && p > math.MaxInt64 {
		d.err = fmt.Errorf("position %d is out of range", p)
	}
	return int(p)
}

func (d *snapshotReader) flags() byte {
	f := d.byte("flags")
	if d.err == nil && f&^(flagState|flagLogits) != 0 {
		d.err = fmt.Errorf("flags %#x are not known", f)
	}
	return f
}

func (d *snapshotReader) floats(field string, present bool) []float32 {
	b := d.list(4, field)
	if d.err != nil || !present {
		if d.err == nil && len(b) > 0 {
			d.err = fmt.Errorf("%s: marked absent, but %d bytes follow", field, len(b))
		}
		return nil
	}
	v := make([]float32, len(b)/4)
	getFloats(v, b)
	return v
}

func (d *snapshotReader) float(field string) float32 {
	if b := d.take(4, field); b != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// members are the further states of a mix.
func (d *snapshotReader) members() []Member {
	b := d.take(4, "number of states")
	if b == nil {
		return nil
	}
	count := binary.LittleEndian.Uint32(b)
	if count > maxMembers {
		d.err = fmt.Errorf("a mix of %d further states: it can have %d at most", count, maxMembers)
		return nil
	}
	var out []Member
	for range count {
		m := Member{Name: string(d.bytes("name")), Adapter: string(d.bytes("adapter")), Weight: d.float("weight")}
		flags := d.flags()
		m.State = d.floats("state", flags&flagState != 0)
		m.Logits = d.floats("logits", flags&flagLogits != 0)
		out = append(out, m)
	}
	return out
}

func (d *snapshotReader) ints(field string) []int32 {
	b := d.list(4, field)
	if len(b) == 0 {
		return nil
	}
	v := make([]int32, len(b)/4)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	if err := CheckTokens(field, v, MostTokens); err != nil && d.err == nil {
		d.err = err
	}
	return v
}

func (d *snapshotReader) counts() []sampler.Count {
	b := d.list(countSize, "token counts")
	if len(b) == 0 {
		return nil
	}
	v := make([]sampler.Count, len(b)/countSize)
	for i := range v {
		c := b[countSize*i:]
		v[i] = sampler.Count{
			Token: int32(binary.LittleEndian.Uint32(c)),
			N:     math.Float32frombits(binary.LittleEndian.Uint32(c[4:])),
			First: math.Float32frombits(binary.LittleEndian.Uint32(c[8:])),
		}
	}
	return v
}
