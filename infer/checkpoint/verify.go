package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"io"
)

// A member is the bytes of one storage in a torch zip file, with the checksum that
// was written with them.
type member struct {
	name        string
	off, length int64
	sum         uint32 // CRC-32; 0: the writer computed none
	image       *image // of the file
}

// HasChecksums says whether the file has checksums of its contents. Those of torch
// have, unless it was told to leave them out; other formats have none.
func (f *File) HasChecksums() bool {
	for _, m := range f.members {
		if m.sum != 0 {
			return true
		}
	}
	return false
}

// Verify reads all of the file that has checksums and compares them. progress, which
// may be nil, is told how many bytes were read, of how many. A file without checksums
// passes: see HasChecksums.
func (f *File) Verify(ctx context.Context, progress func(done, total int64)) error {
	var done, total int64
	for _, m := range f.members {
		total += m.length
	}
	for _, m := range f.members {
		err := m.image.verify(m, func(n int64) error {
			if done += n; progress != nil {
				progress(done, total)
			}
			return ctx.Err()
		})
		if err != nil {
			return inFile(f.path, err)
		}
	}
	return nil
}

// Verify is that of the tensor alone.
func (t *Tensor) Verify() error {
	if t.member == nil {
		return nil
	}
	err := t.image.verify(*t.member, func(int64) error { return nil })
	if fe, ok := err.(*FormatError); ok { //nolint:errorlint // it is made right there
		fe.Tensor = t.Name
	}
	return err
}

// verify compares the checksum of a member. It is told of every piece.
func (m *image) verify(of member, each func(n int64) error) error {
	if of.sum == 0 {
		return nil
	}
	const piece = 1 << 20
	buf := make([]byte, 0)
	if m.data == nil {
		buf = make([]byte, min(of.length, piece))
	}
	sum := uint32(0)
	for off := int64(0); off < of.length; off += piece {
		n := min(piece, of.length-off)
		err := m.guard(func() error {
			raw, err := m.slice(of.off+off, n, buf)
			sum = crc32.Update(sum, crc32.IEEETable, raw)
			return err
		})
		if err == nil {
			err = each(n)
		}
		if err != nil {
			return err
		}
	}
	if sum != of.sum {
		return refuse(downloadAgain, "the bytes of the zip entry %s are not those that were written: their checksum is %08x, not %08x", quoted(of.name), sum, of.sum)
	}
	return nil
}

// Digest is a hash of all bytes of the file, unlike Fingerprint, which samples them
// and is that of the same weights in another format too.
func (f *File) Digest() (string, error) {
	h := sha256.New()
	for _, part := range f.parts() {
		if _, err := io.Copy(h, io.NewSectionReader(part.image, 0, part.length)); err != nil {
			return "", inFile(part.path, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
