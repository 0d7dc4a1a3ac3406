package statefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// A Format is a file format for states.
type Format string

// The formats.
const (
	// Own keeps the whole State. Only this program reads it.
	Own Format = "rkstate"
	// Safetensors and Pth hold time_state in fp32, for trainers and other programs:
	// the WKV part alone, without token shifts, tokens and names.
	Safetensors Format = "safetensors"
	Pth         Format = "pth"
)

// FormatOf is the format that the extension of a path names.
func FormatOf(path string) (Format, error) {
	for _, f := range []Format{Own, Safetensors, Pth} {
		if end := "." + string(f); len(path) > len(end) && path[len(path)-len(end):] == end {
			return f, nil
		}
	}
	return "", errors.New("a state is written as .rkstate (everything), .safetensors or .pth (for trainers and other programs)")
}

// Lost says, for people, what a format does not keep of the state; it is empty if
// nothing is lost.
func (s *State) Lost(f Format) string {
	if f == Own || s.Snapshot == nil {
		return ""
	}
	for _, n := range s.Shape.Norms(s.Snapshot.State) {
		if n.AttShift != 0 || n.FFNShift != 0 {
			return "the token shifts (the last token's part of the state) and the tokens are not kept by ." + string(f)
		}
	}
	if len(s.Tokens) > 0 {
		return "the tokens are not kept by ." + string(f)
	}
	return ""
}

// Write writes the state in a format.
func (s *State) Write(w io.Writer, f Format) error {
	if s.Snapshot == nil || len(s.Snapshot.State) != s.Shape.StateLen() {
		return fmt.Errorf("writing the state %q: it is not complete", s.Name)
	}
	if f != Own && s.Shape.HeadSize == 1 {
		return fmt.Errorf("writing the state %q: %v has no matrices that .%s holds; write it as .rkstate", s.Name, s.Shape.Version, f)
	}
	switch f {
	case Own:
		data, err := s.AppendBinary(nil)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	case Safetensors:
		return checkpoint.WriteSafetensors(w, s.entries(), map[string]string{"format": "pt", "writer": ownWriter})
	case Pth:
		return checkpoint.WritePth(w, s.entries())
	}
	return fmt.Errorf("there is no format %q for states", f)
}

// entries are the time_state tensors of the layers.
func (s *State) entries() []checkpoint.Entry {
	all := make([]checkpoint.Entry, s.Shape.Layers)
	for i := range all {
		values := s.wkv(i)
		all[i] = checkpoint.Entry{
			Name: layerPrefix + strconv.Itoa(i) + "." + stateName, Type: "F32",
			Shape: []int{s.Shape.Heads, s.Shape.HeadSize, s.Shape.HeadSize},
			Write: func(w io.Writer) error {
				_, err := w.Write(littleEndian(values))
				return err
			},
		}
	}
	return all
}

// wkv is the WKV part of a layer: [head, value, key].
func (s *State) wkv(layer int) []float32 {
	first, last := s.Shape.StatePart(layer, rwkv.PartWKV)
	return s.Snapshot.State[first:last]
}

func littleEndian(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}
