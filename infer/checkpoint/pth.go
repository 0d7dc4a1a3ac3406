package checkpoint

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"rookery/untrusted"
)

// maxDirectory bounds the zip directory in bytes; the largest released models
// have some 200 KB.
const maxDirectory = 4 << 20

// maxSharing bounds how much tensors may share storages: together they have at most
// this many times the bytes of the file.
const maxSharing = 4

// openPth reads a torch zip file: a pickle that describes tensors, and the
// storages beside it, all uncompressed.
func openPth(m *image) (*File, error) {
	archive, err := openArchive(m)
	if err != nil {
		return nil, err
	}
	if order, err := archive.small("byteorder"); err != nil {
		return nil, err
	} else if order != "" && order != "little" {
		return nil, refuse("save it again on a little-endian machine", "the values are stored in %s byte order", quoted(order))
	}
	pickle, err := archive.bytes("data.pkl", maxPickle)
	if err != nil {
		return nil, err
	}
	root, err := unpickle(pickle)
	if err != nil {
		remedy := downloadAgain
		var global *refusedGlobal
		if errors.As(err, &global) {
			remedy = "it may run code when other programs load it, use a file of plain weights"
		}
		return nil, refuse(remedy, "data.pkl: %v", err)
	}
	return archive.weights(root)
}

// An archive is the entries of a torch zip file, by their name inside the
// file's own top folder.
type archive struct {
	image   *image
	entries map[string]*zip.File
}

// openArchive reads the zip directory.
func openArchive(m *image) (*archive, error) {
	guard := &directoryGuard{from: m, left: maxDirectory}
	z, err := zip.NewReader(guard, m.length)
	if err != nil {
		return nil, refuse(downloadAgain, "the zip directory cannot be read (%v)", untrusted.Message(err))
	}
	guard.left = math.MaxInt
	a := &archive{image: m, entries: make(map[string]*zip.File, len(z.File))}
	var root string
	for _, entry := range z.File {
		if folder, ok := strings.CutSuffix(entry.Name, "/data.pkl"); ok {
			if root != "" {
				return nil, refuse(useRelease, "more than one data.pkl inside")
			}
			root = folder
		}
	}
	if root == "" {
		return nil, refuse(useRelease, "a zip file without data.pkl, so not weights saved by torch 1.6 or later")
	}
	for _, entry := range z.File {
		name, inside := strings.CutPrefix(entry.Name, root+"/")
		if !inside {
			continue
		}
		if _, twice := a.entries[name]; twice {
			return nil, refuse(useRelease, "the zip directory names %s twice", quoted(entry.Name))
		}
		a.entries[name] = entry
	}
	return a, nil
}

// A directoryGuard bounds how much of the zip directory the zip library reads.
type directoryGuard struct {
	from io.ReaderAt
	left int
}

func (g *directoryGuard) ReadAt(p []byte, off int64) (int, error) {
	if g.left -= len(p); g.left < 0 {
		return 0, errors.New("the directory is larger than weights need")
	}
	return g.from.ReadAt(p, off)
}

// locate finds where an entry's bytes lie in the file.
func (a *archive) locate(name string) (off, length int64, err error) {
	entry, ok := a.entries[name]
	if !ok {
		return 0, 0, refuse(downloadAgain, "the zip entry %s is missing", quoted(name))
	}
	if entry.Method != zip.Store || entry.Flags&1 != 0 || entry.CompressedSize64 != entry.UncompressedSize64 {
		return 0, 0, refuse("torch stores them plainly, save the weights again", "the zip entry %s is compressed or encrypted", quoted(name))
	}
	if off, err = entry.DataOffset(); err != nil {
		return 0, 0, refuse(downloadAgain, "the zip entry %s cannot be found (%v)", quoted(name), untrusted.Message(err))
	}
	if off < 0 || entry.UncompressedSize64 > uint64(a.image.length-min(off, a.image.length)) {
		return 0, 0, refuse(downloadAgain, "the zip entry %s ends after the end of the file", quoted(name))
	}
	return off, int64(entry.UncompressedSize64), nil
}

// bytes returns a whole entry of at most most bytes.
func (a *archive) bytes(name string, most int64) ([]byte, error) {
	off, n, err := a.locate(name)
	if err != nil {
		return nil, err
	}
	if n > most {
		return nil, refuse(useRelease, "the zip entry %s has %d bytes, at most %d are read", quoted(name), n, most)
	}
	raw, err := a.image.slice(off, n, nil)
	if err != nil {
		return nil, err
	}
	return raw, a.image.verify(member{name, off, n, a.entries[name].CRC32, a.image}, func(int64) error { return nil })
}

// small returns a short text entry, empty when there is none.
func (a *archive) small(name string) (string, error) {
	if _, ok := a.entries[name]; !ok {
		return "", nil
	}
	b, err := a.bytes(name, 1024)
	return strings.TrimSpace(string(b)), err
}

// weights makes a File of the pickle's root.
func (a *archive) weights(root any) (*File, error) {
	d, err := weightDict(root)
	if err != nil {
		return nil, err
	}
	f := newFile(a.image, formatPth)
	if f.members, err = a.members(); err != nil {
		return nil, err
	}
	budget := maxSharing * a.image.length
	for i, value := range d.values {
		name, ok := d.keys[i].(string)
		if !ok {
			return nil, refuse(useRelease, "entry %d of its dictionary is not named by a string", i)
		}
		t, ok := value.(pyTensor)
		if !ok {
			return nil, refuseTensor(name, "save only the dictionary of weights", "it is not a tensor")
		}
		tensor, err := a.tensor(name, t)
		if err != nil {
			return nil, err
		}
		if budget -= tensor.StoredBytes(); budget < 0 {
			return nil, refuse(useRelease, "the tensors claim many times the %d bytes of the file", a.image.length)
		}
		if err := f.add(tensor); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// members are the storages, in the order of their places in the file.
func (a *archive) members() ([]member, error) {
	var all []member
	for name, entry := range a.entries {
		if !strings.HasPrefix(name, "data/") {
			continue
		}
		off, n, err := a.locate(name)
		if err != nil {
			return nil, err
		}
		all = append(all, member{name, off, n, entry.CRC32, a.image})
	}
	slices.SortFunc(all, func(x, y member) int { return cmp.Compare(x.off, y.off) })
	return all, nil
}

// weightDict finds the dictionary of tensors: the root, or its "state_dict".
func weightDict(root any) (*pyDict, error) {
	d, ok := root.(*pyDict)
	if !ok {
		return nil, refuse("save only the dictionary of weights", "it holds something other than a dictionary of tensors")
	}
	for i, key := range d.keys {
		switch key {
		case "state_dict":
			if inner, ok := d.values[i].(*pyDict); ok {
				d = inner
			}
		case "_strategy", "_version", "_rescale_layer":
			return nil, refuse("use the original .pth it was made from", "a file converted by the rwkv package for one strategy")
		}
	}
	return d, nil
}

// tensor places a view of a storage in the file.
func (a *archive) tensor(name string, v pyTensor) (*Tensor, error) {
	off, length, err := a.locate("data/" + v.storage.key)
	if err != nil {
		var fe *FormatError
		if errors.As(err, &fe) {
			fe.Tensor = name
		}
		return nil, err
	}
	size := int64(v.storage.dtype.size())
	if v.storage.count > length/size {
		return nil, refuseTensor(name, downloadAgain, "its storage should have %d values, the file has %d bytes of it", v.storage.count, length)
	}
	if len(v.shape) != len(v.stride) {
		return nil, refuseTensor(name, downloadAgain, "%d dimensions but %d strides", len(v.shape), len(v.stride))
	}
	count, err := countValues(name, v.shape)
	if err != nil {
		return nil, err
	}
	if count > v.storage.count {
		return nil, refuseTensor(name, useRelease, "%d values, its storage has %d", count, v.storage.count)
	}
	if !v.fits(count) {
		return nil, refuseTensor(name, downloadAgain, "its values lie outside its storage of %d", v.storage.count)
	}
	shape, stride := squeezed(v.shape, v.stride)
	if contiguous(shape, stride) {
		stride = nil
	}
	in := &member{"data/" + v.storage.key, off, length, a.entries["data/"+v.storage.key].CRC32, a.image}
	return &Tensor{Name: name, DType: v.storage.dtype, Shape: shape, image: a.image, member: in, offset: off + v.offset*size, stride: stride}, nil
}

// fits says whether every value of the view lies in its storage.
func (v pyTensor) fits(count int64) bool {
	if v.offset < 0 || v.offset > v.storage.count {
		return false
	}
	if count == 0 {
		return true
	}
	left := v.storage.count - v.offset - 1 // the largest distance of the last value from the first
	for i, d := range v.shape {
		if v.stride[i] < 0 {
			return false
		}
		if d == 1 {
			continue
		}
		if v.stride[i] > left/(d-1) {
			return false
		}
		left -= v.stride[i] * (d - 1)
	}
	return left >= 0
}
