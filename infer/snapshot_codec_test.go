package infer

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/infer/sampler"
)

// sampleSnapshots covers nil and empty fields, odd lengths and unusual floats.
func sampleSnapshots() map[string]*Snapshot {
	nan := math.Float32frombits(0x7fc12345)
	return map[string]*Snapshot{
		"zero": {Model: "m", Tokenizer: "t"},
		"adapted": {
			Model: "m", Tokenizer: "t", Adapter: "sha256:poet", Position: 3, State: []float32{1, 2}, Logits: []float32{3},
		},
		"adapted mix": {
			Model: "m", Tokenizer: "t", Adapter: "poet", Position: 3, State: []float32{1, 2}, Weight: 0.5,
			Members: []Member{{Name: "book", Adapter: "poet", Weight: -0.25, State: []float32{4, 5}}},
		},
		"empty": {State: []float32{}, Logits: []float32{}},
		"full": {
			Model: "rwkv7-demo sha256:abcd", Tokenizer: "世界", Position: 1 << 40,
			State:   []float32{0, float32(math.Copysign(0, -1)), nan, float32(math.Inf(1)), 1e-45, -1.5, 7},
			Pending: []int32{0, 1, 65535, 1<<24 - 1},
			Logits:  []float32{1, 2, 3, 4, 5},
			Sampler: sampler.Memory{Draws: math.MaxUint64, Counts: []sampler.Count{{Token: 5, N: 0.25, First: 0.125}, {Token: 9, N: nan}}},
			Tail:    []byte{0xe4, 0xbd},
		},
	}
}

func sameBits(a, b []float32) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

func sameSnapshot(a, b *Snapshot) bool {
	counts := slices.EqualFunc(a.Sampler.Counts, b.Sampler.Counts, func(x, y sampler.Count) bool {
		return x.Token == y.Token && sameBits([]float32{x.N, x.First}, []float32{y.N, y.First})
	})
	return counts && a.Model == b.Model && a.Tokenizer == b.Tokenizer && a.Adapter == b.Adapter && a.Weight == b.Weight && sameMembers(a.Members, b.Members) && a.Position == b.Position &&
		sameBits(a.State, b.State) && sameBits(a.Logits, b.Logits) && slices.Equal(a.Pending, b.Pending) &&
		a.Sampler.Draws == b.Sampler.Draws && string(a.Tail) == string(b.Tail)
}

func sameMembers(a, b []Member) bool {
	return slices.EqualFunc(a, b, func(x, y Member) bool {
		return x.Name == y.Name && x.Adapter == y.Adapter && sameBits([]float32{x.Weight}, []float32{y.Weight}) &&
			sameBits(x.State, y.State) && sameBits(x.Logits, y.Logits)
	})
}

func marshal(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSnapshotBinaryKeepsEveryBit(t *testing.T) {
	for name, s := range sampleSnapshots() {
		t.Run(name, func(t *testing.T) {
			data := marshal(t, s)
			if cap(data) != len(data) {
				t.Errorf("binary form was sized %d, is %d", cap(data), len(data))
			}
			var got Snapshot
			if err := got.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if !sameSnapshot(s, &got) {
				t.Errorf("got %+v, want %+v", got, *s)
			}
		})
	}
}

func TestSnapshotBinaryAppends(t *testing.T) {
	s := sampleSnapshots()["full"]
	got, err := s.AppendBinary([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "before" + string(marshal(t, s)); string(got) != want {
		t.Error("AppendBinary differs from MarshalBinary after a prefix")
	}
}

func TestSnapshotBinaryRefusesDamage(t *testing.T) {
	whole := marshal(t, sampleSnapshots()["full"])
	for n := range whole {
		var s Snapshot
		if err := s.UnmarshalBinary(whole[:n]); err == nil {
			t.Fatalf("accepted the first %d of %d bytes", n, len(whole))
		}
	}
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 0x10
		var s Snapshot
		if err := s.UnmarshalBinary(bad); err == nil {
			t.Fatalf("accepted a changed byte %d", i)
		}
	}
}

func TestSnapshotBinaryErrors(t *testing.T) {
	reseal := func(data []byte) []byte {
		body := data[:len(data)-checksumSize]
		return binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
	}
	newer := marshal(t, &Snapshot{})
	newer[len(snapshotMagic)] = 9
	huge := marshal(t, &Snapshot{})
	binary.LittleEndian.PutUint32(huge[snapshotHeader:], math.MaxUint32)
	flagged := marshal(t, &Snapshot{})
	flagged[snapshotHeader+3*4+8] = 1 << 7
	longer := append(marshal(t, &Snapshot{}), 0)
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"foreign", []byte("SQLite format 3\x00 and more"), "not a snapshot"},
		{"newer", newer, "version 9"},
		{"length beyond the data", reseal(huge), "model: 4294967295 bytes announced"},
		{"unknown flags", reseal(flagged), "flags 0x80"},
		{"trailing", reseal(longer), "too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := Snapshot{Model: "kept"}
			s := before
			err := s.UnmarshalBinary(tt.data)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if s.Model != before.Model {
				t.Error("a refused snapshot was changed")
			}
		})
	}
}

func FuzzSnapshot(f *testing.F) {
	for _, s := range sampleSnapshots() {
		data := marshal(f, s)
		f.Add(data[:len(data)-checksumSize])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data := binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
		var s Snapshot
		if err := s.UnmarshalBinary(data); err != nil {
			return
		}
		var again Snapshot
		if err := again.UnmarshalBinary(marshal(t, &s)); err != nil {
			t.Fatalf("the binary form of an accepted snapshot was refused: %v", err)
		}
		if !sameSnapshot(&s, &again) {
			t.Fatalf("%+v became %+v", s, again)
		}
	})
}

// BenchmarkSnapshot is a 7.2B state: 34 MB.
func BenchmarkSnapshot(b *testing.B) {
	s := &Snapshot{State: make([]float32, 34<<20/4), Logits: make([]float32, 65536)}
	data := marshal(b, s)
	buf := make([]byte, 0, len(data))
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := s.AppendBinary(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := s.UnmarshalBinary(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
