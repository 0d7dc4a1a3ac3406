package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"rookery/untrusted"
)

// maxHeader bounds the JSON header of a safetensors file in bytes; the largest
// released models have some 250 KB.
const maxHeader = 16 << 20

// safetensorsTypes are the stored types that are read. I8 is allowed only for
// the values of Q8 tensors.
var safetensorsTypes = map[string]DType{"F32": F32, "F16": F16, "BF16": BF16, "F64": F64, "U8": U8, "I64": I64, "I32": I32, "I8": Q8}

// A header entry as the file has it.
type entry struct {
	name    string
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// openSafetensors reads the length and the JSON header of names, types, shapes and
// places. The data stay in the file.
func openSafetensors(m *image) (*File, error) {
	head, err := m.slice(0, 8, nil)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head)
	if n > maxHeader {
		return nil, refuse(useRelease, "a header of %d bytes, at most %d are read", n, maxHeader)
	}
	if int64(n) > m.length-8 {
		return nil, refuse(downloadAgain, "the header ends after the end of the file")
	}
	header, err := m.slice(8, int64(n), nil)
	if err != nil {
		return nil, err
	}
	f := newFile(m, formatSafetensors)
	entries, err := f.parseHeader(header)
	if err != nil {
		return nil, err
	}
	data := 8 + int64(n)
	sorted := slices.Clone(entries)
	if err := checkPlaces(sorted, m.length-data); err != nil {
		return nil, err
	}
	for i := range entries {
		if err := f.addEntry(&entries[i], data); err != nil {
			return nil, err
		}
	}
	if err := f.joinQuantized(); err != nil {
		return nil, err
	}
	if err := checkGaps(sorted, m.length-data); err != nil {
		return nil, err
	}
	return f, nil
}

// parseHeader reads the JSON token by token, to find names that occur twice.
func (f *File) parseHeader(header []byte) ([]entry, error) {
	d := json.NewDecoder(bytes.NewReader(header))
	entries, err := f.parseEntries(d)
	if err != nil {
		var fe *FormatError
		if errors.As(err, &fe) {
			return nil, err
		}
		return nil, refuse(downloadAgain, "the header is not as it should be (%v)", untrusted.Message(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, refuse(downloadAgain, "the header goes on after its end")
	}
	return entries, nil
}

func (f *File) parseEntries(d *json.Decoder) ([]entry, error) {
	if _, err := d.Token(); err != nil { // the format check has seen the brace
		return nil, err
	}
	var entries []entry
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // keys of an object are strings
		if name == "__metadata__" {
			if err := d.Decode(&f.metadata); err != nil {
				return nil, refuse(downloadAgain, "the header's metadata are not plain text (%v)", untrusted.Message(err))
			}
			continue
		}
		if len(entries) == 2*maxTensors {
			return nil, refuse(useRelease, "more than %d tensors", maxTensors)
		}
		e := entry{name: name}
		if err := d.Decode(&e); err != nil {
			return nil, refuseTensor(name, downloadAgain, "its entry in the header cannot be read (%v)", untrusted.Message(err))
		}
		entries = append(entries, e)
	}
	_, err := d.Token()
	return entries, err
}

// checkPlaces checks that every tensor's bytes lie inside the data and that no
// two share any. It sorts the entries by place.
func checkPlaces(entries []entry, length int64) error {
	for _, e := range entries {
		if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
			return refuseTensor(e.name, downloadAgain, "impossible place %v in the file", e.Offsets)
		}
		if e.Offsets[1] > length {
			return refuseTensor(e.name, downloadAgain, "it ends at byte %d of the data, the file has %d", e.Offsets[1], length)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	for i := 1; i < len(entries); i++ {
		if entries[i].Offsets[0] < entries[i-1].Offsets[1] {
			return refuseTensor(entries[i].name, downloadAgain, "it shares bytes with %s", quoted(entries[i-1].name))
		}
	}
	return nil
}

// checkGaps refuses bytes that belong to no tensor: the format allows none, and has
// no checksums that would tell. entries are sorted by place.
func checkGaps(entries []entry, length int64) error {
	end := int64(0)
	for _, e := range entries {
		if e.Offsets[0] > end {
			return refuseTensor(e.name, downloadAgain, "the %d bytes before it belong to no tensor", e.Offsets[0]-end)
		}
		end = e.Offsets[1]
	}
	if end != length {
		return refuse(downloadAgain, "the last %d bytes belong to no tensor", length-end)
	}
	return nil
}

// addEntry adds the tensor of one header entry whose place was checked.
func (f *File) addEntry(e *entry, data int64) error {
	dtype, known := safetensorsTypes[e.DType]
	if !known {
		return refuseTensor(e.name, "use a file in fp16, bf16 or fp32", "its type %s is not read", quoted(e.DType))
	}
	if e.Shape == nil {
		return refuseTensor(e.name, downloadAgain, "it has no shape")
	}
	count, err := countValues(e.name, e.Shape)
	if err != nil {
		return err
	}
	if got := e.Offsets[1] - e.Offsets[0]; got != count*int64(dtype.size()) {
		return refuseTensor(e.name, downloadAgain, "%d bytes, but its shape %v in %s needs %d", got, e.Shape, e.DType, count*int64(dtype.size()))
	}
	shape, _ := squeezed(e.Shape, nil)
	return f.add(&Tensor{Name: e.name, DType: dtype, Shape: shape, image: f.image, offset: data + e.Offsets[0]})
}
