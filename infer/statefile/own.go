package statefile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"

	"rookery/infer"
	"rookery/infer/rwkv"
)

// The program's own format (.rkstate), all numbers little endian:
//
//	magic "RKST", version u16
//	header      u32 length and JSON, see ownHeader
//	tokens      u32 count and that many int32
//	snapshot    the rest but 4 bytes: infer.Snapshot in its binary form
//	crc32c      u32, of everything before it
const (
	ownMagic   = "RKST"
	ownVersion = 1
	ownWriter  = "rookery" // "writer" in the metadata of .safetensors files that this program writes
	maxHeader  = 1 << 20
	// MaxName bounds a state's name in bytes.
	MaxName = 200
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An ownHeader is the JSON of the header. Names are part of the format.
type ownHeader struct {
	Key         int64     `json:"id,string,omitempty"`
	Name        string    `json:"name"`
	Kind        Kind      `json:"kind"`
	Source      string    `json:"source"`
	ModelName   string    `json:"model_name"`
	Model       string    `json:"model"`
	Adapter     string    `json:"adapter,omitempty"` // fingerprint
	AdapterName string    `json:"adapter_name,omitempty"`
	Shape       ownShape  `json:"shape"`
	Created     time.Time `json:"created"`
}

// An ownShape is the part of a rwkv.Shape that determines a state's layout, in JSON.
type ownShape struct {
	Version  string `json:"version"` // rwkv.Version.ID
	Layers   int    `json:"layers"`
	Embed    int    `json:"embed"`
	Heads    int    `json:"heads"`
	HeadSize int    `json:"head_size"`
}

// MarshalShape is the shape of a state as JSON.
func MarshalShape(s rwkv.Shape) ([]byte, error) {
	return json.Marshal(ownShapeOf(s))
}

// UnmarshalShape is the inverse of MarshalShape. It refuses impossible sizes.
func UnmarshalShape(data []byte) (rwkv.Shape, error) {
	var s ownShape
	if err := json.Unmarshal(data, &s); err != nil {
		return rwkv.Shape{}, fmt.Errorf("the shape of a state: %w", err)
	}
	return s.shape()
}

func ownShapeOf(s rwkv.Shape) ownShape {
	return ownShape{s.Version.ID(), s.Layers, s.Embed, s.Heads, s.HeadSize}
}

func (s ownShape) shape() (rwkv.Shape, error) {
	version, ok := rwkv.VersionOf(s.Version)
	if !ok {
		return rwkv.Shape{}, fmt.Errorf("a state of the version %q of RWKV: this program runs %s", s.Version, rwkv.Names(rwkv.Runnable()))
	}
	if s.Layers < 1 || s.Layers > maxLayers || s.Heads < 1 || s.Heads > maxHeads ||
		s.HeadSize < 1 || s.HeadSize > maxHeadSize || s.Embed != s.Heads*s.HeadSize {
		return rwkv.Shape{}, fmt.Errorf("the shape of a state cannot be %d layers of %d channels in %d heads of %d", s.Layers, s.Embed, s.Heads, s.HeadSize)
	}
	return rwkv.Shape{Version: version, Layers: s.Layers, Embed: s.Embed, Heads: s.Heads, HeadSize: s.HeadSize}, nil
}

// AppendBinary appends the state in the program's own format.
func (s *State) AppendBinary(dst []byte) ([]byte, error) {
	header, err := json.Marshal(ownHeader{
		Key: s.Key, Name: s.Name, Kind: s.Kind, Source: s.Source, ModelName: s.ModelName, Model: s.Model, Adapter: s.Adapter, AdapterName: s.AdapterName,
		Shape:   ownShapeOf(s.Shape),
		Created: s.Created.UTC(),
	})
	if err != nil {
		return nil, fmt.Errorf("writing the state %q: %w", s.Name, err)
	}
	if s.Snapshot == nil || len(header) > maxHeader {
		return nil, fmt.Errorf("writing the state %q: it is not complete", s.Name)
	}
	start := len(dst)
	dst = append(dst, ownMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, ownVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(header)))
	dst = append(dst, header...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.Tokens)))
	for _, t := range s.Tokens {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(t))
	}
	if dst, err = s.Snapshot.AppendBinary(dst); err != nil {
		return nil, fmt.Errorf("writing the state %q: %w", s.Name, err)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli)), nil
}

// isOwn says whether a file with this beginning is of the program's own format.
func isOwn(head []byte) bool { return strings.HasPrefix(string(head), ownMagic) }

// UnmarshalBinary reads the program's own format. It refuses damaged and foreign
// data, which leaves s as it was. It allocates no more than the length of data
// accounts for.
func (s *State) UnmarshalBinary(data []byte) error {
	const fixed = len(ownMagic) + 2
	if len(data) < fixed+4+4+4 || !isOwn(data) {
		return errors.New("this is not a state of this program")
	}
	if v := binary.LittleEndian.Uint16(data[len(ownMagic):]); v != ownVersion {
		return fmt.Errorf("version %d of the format, and this program reads version %d: update rookery", v, ownVersion)
	}
	end := len(data) - 4
	if crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return errors.New("the checksum does not match: the file is damaged, copy it again")
	}
	rest := data[fixed:end]
	header, rest, ok := take(rest, 1)
	if !ok || len(header) > maxHeader {
		return errors.New("the header is longer than the file")
	}
	tokens, rest, ok := take(rest, 4)
	if !ok {
		return errors.New("the tokens are longer than the file")
	}
	out, err := parseHeader(header)
	if err != nil {
		return err
	}
	for ; len(tokens) > 0; tokens = tokens[4:] {
		out.Tokens = append(out.Tokens, int32(binary.LittleEndian.Uint32(tokens)))
	}
	if err := infer.CheckTokens("token", out.Tokens, infer.MostTokens); err != nil {
		return err
	}
	out.Snapshot = new(infer.Snapshot)
	if err := out.Snapshot.UnmarshalBinary(rest); err != nil {
		return err
	}
	if n := out.Shape.StateLen(); len(out.Snapshot.State) != n {
		return fmt.Errorf("the state has %d values, and its shape needs %d", len(out.Snapshot.State), n)
	}
	*s = out
	return nil
}

// take splits data after a counted list, whose elements have size bytes.
func take(data []byte, size uint64) (list, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	n := size * uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; n > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

func parseHeader(data []byte) (State, error) {
	var h ownHeader
	if err := json.Unmarshal(data, &h); err != nil {
		return State{}, fmt.Errorf("the header: %w", err)
	}
	shape, err := h.Shape.shape()
	if err != nil {
		return State{}, err
	}
	switch h.Kind {
	case Tuned, Baked, Saved:
	default:
		return State{}, fmt.Errorf("there is no kind of state %q", h.Kind)
	}
	if h.Name, err = CleanName(h.Name); err != nil {
		return State{}, err
	}
	return State{
		Key: h.Key, Name: h.Name, Kind: h.Kind, Source: h.Source, Model: h.Model, ModelName: h.ModelName,
		Adapter: h.Adapter, AdapterName: h.AdapterName, Shape: shape, Created: h.Created,
	}, nil
}

// CleanName makes a name one line of printable characters. It refuses one that is
// empty or longer than MaxName.
func CleanName(name string) (string, error) {
	name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, name)), " ")
	switch {
	case name == "":
		return "", errors.New("a state needs a name of at least one character")
	case len(name) > MaxName:
		return "", fmt.Errorf("a state's name has at most %d bytes, this one has %d", MaxName, len(name))
	}
	return name, nil
}
