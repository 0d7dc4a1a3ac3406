package transfer

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// Bounds of what a bundle may unpack to: what is above them is refused before
// it is unpacked, whatever the file's own figures say.
const (
	bundleManifestBytes = 64 << 20
	bundleJSONBytes     = 256 << 20 // of a conversation
	bundleStateBytes    = 1 << 30
	bundleAllJSONBytes  = 2 << 30
	bundleFiles         = 1 << 20
	bundleBases         = 4096    // states of the library
	bundleAllBaseBytes  = 8 << 30 // of these
)

// readBundle reads and checks everything but the states, which are checked
// when they are read. The trees' states read from r.
func readBundle(r io.ReaderAt, size int64) ([]turn.Tree, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("it is no bundle, or incomplete: %w", err)
	}
	b := bundleReader{files: make(map[string]*zip.File, len(z.File))}
	if len(z.File) > bundleFiles {
		return nil, fmt.Errorf("it holds %d files; %d can be read", len(z.File), bundleFiles)
	}
	for _, f := range z.File {
		if b.files[f.Name] != nil {
			return nil, fmt.Errorf("it holds two files named %.60q", f.Name)
		}
		b.files[f.Name] = f
	}
	file, err := b.readManifest()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bundleManifest, err)
	}
	if b.bases, err = b.listBases(file.Bases); err != nil {
		return nil, err
	}
	trees := make([]turn.Tree, 0, len(file.Conversations))
	seen := map[turn.ID]bool{}
	for _, c := range file.Conversations {
		t, err := b.readConversation(c)
		if err != nil {
			return nil, fmt.Errorf("conversation %.80q: %w", c.Title, err)
		}
		for _, tn := range t.Turns {
			if seen[tn.ID] {
				return nil, fmt.Errorf("conversation %.80q: turn %d belongs to another one, too", c.Title, tn.ID)
			}
			seen[tn.ID] = true
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// A bundleReader finds the files of a bundle.
type bundleReader struct {
	files map[string]*zip.File
	bases map[turn.ID]bundleBase
	json  int64 // bytes of conversations so far
}

// listBases are the states that conversations begin from or mix.
func (b *bundleReader) listBases(list []bundleBase) (map[turn.ID]bundleBase, error) {
	bases, bytes := map[turn.ID]bundleBase{}, uint64(0)
	if len(list) > bundleBases {
		return nil, fmt.Errorf("it holds %d states of a library; %d can be read", len(list), bundleBases)
	}
	for _, e := range list {
		id := e.ID
		switch {
		case id <= turn.LastBuiltIn || id > importLastID:
			return nil, fmt.Errorf("%d is no id for a state", id)
		case !strings.HasPrefix(e.File, "bases/"):
			return nil, fmt.Errorf("the file of a state cannot be %.60q", e.File)
		case b.files[e.File] == nil:
			return nil, fmt.Errorf("%.60q is missing", e.File)
		}
		size := b.files[e.File].UncompressedSize64
		if size > bundleStateBytes || bytes+size > bundleAllBaseBytes {
			return nil, fmt.Errorf("its states unpack to too much: %d bytes in all, and %d each, can be read", int64(bundleAllBaseBytes), int64(bundleStateBytes))
		}
		bytes += size
		bases[id] = e
	}
	return bases, nil
}

func (b *bundleReader) readBase(id turn.ID) (turn.State, error) {
	var s statefile.State
	data, err := b.readFile(b.bases[id].bundleEntry)
	if err == nil {
		err = s.UnmarshalBinary(data)
	}
	if err == nil {
		s.Name, err = statefile.CleanName(s.Name)
	}
	for _, name := range []string{s.Adapter, s.AdapterName} {
		if err == nil {
			err = checkName(name)
		}
	}
	if err != nil {
		return turn.State{}, fmt.Errorf("the state %d that conversations begin from or mix: %w", id, err)
	}
	return turn.NewState(id, s), nil
}

// readFile reads the file of a state and checks it.
func (b *bundleReader) readFile(e bundleEntry) ([]byte, error) {
	r, err := b.openFile(e, bundleStateBytes)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return data, err
}

func (b *bundleReader) readManifest() (bundleFile, error) {
	var file bundleFile
	r, err := b.openFile(bundleEntry{File: bundleManifest}, bundleManifestBytes)
	if err != nil {
		return file, err
	}
	err = json.NewDecoder(squeeze(r)).Decode(&file)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return file, err
	case file.Format != bundleFormat:
		return file, fmt.Errorf("the format is %.60q, not %s", file.Format, bundleFormat)
	case file.Version != bundleVersion:
		return file, fmt.Errorf("it has version %d and this rookery reads version %d: update rookery", file.Version, bundleVersion)
	}
	return file, nil
}

func (b *bundleReader) readConversation(c bundleConversation) (turn.Tree, error) {
	if !strings.HasPrefix(c.File, "conversations/") {
		return turn.Tree{}, fmt.Errorf("its file cannot be %.60q", c.File)
	}
	if b.json += c.Size; c.Size < 0 || b.json > bundleAllJSONBytes {
		return turn.Tree{}, fmt.Errorf("all conversations together have more than %d bytes", int64(bundleAllJSONBytes))
	}
	r, err := b.openFile(c.bundleEntry, bundleJSONBytes)
	if err != nil {
		return turn.Tree{}, err
	}
	t, err := readTree(bufio.NewReader(r))
	_, damage := io.Copy(io.Discard, r) // what follows belongs to the checksum
	if cerr := r.Close(); damage == nil {
		damage = cerr
	}
	if damage != nil {
		err = damage // explains what was read wrongly
	}
	switch {
	case err != nil:
		return t, err
	case t.Conversation.ID != c.ID:
		return t, fmt.Errorf("it is %d in its file and %d in the manifest", t.Conversation.ID, c.ID)
	case len(t.Turns) != c.Turns:
		return t, fmt.Errorf("it has %d turns and the manifest says %d", len(t.Turns), c.Turns)
	}
	for _, id := range libraryStates(&t) {
		if b.bases[id].ID != 0 {
			t.Bases = append(t.Bases, turn.TreeBase{ID: id, Read: func() (turn.State, error) { return b.readBase(id) }})
		}
	}
	return t, b.addStates(&t, c.States)
}

// addStates tells a tree where its states are.
func (b *bundleReader) addStates(t *turn.Tree, states []bundleState) error {
	turns := make(map[turn.ID]bool, len(t.Turns))
	for _, tn := range t.Turns {
		turns[tn.ID] = true
	}
	for _, s := range states {
		id := s.Turn
		switch {
		case !turns[id]:
			return fmt.Errorf("there is a state of turn %d, which is not there or has two", id)
		case !strings.HasPrefix(s.File, "states/"):
			return fmt.Errorf("the file of a state cannot be %.60q", s.File)
		case b.files[s.File] == nil:
			return fmt.Errorf("%.60q is missing", s.File)
		case s.Size > bundleStateBytes:
			return fmt.Errorf("the state of turn %d has %d bytes; %d can be read", id, s.Size, int64(bundleStateBytes))
		}
		delete(turns, id)
		t.States = append(t.States, turn.TreeState{Turn: id, Read: func() (*infer.Snapshot, error) { return b.readSnapshot(s) }})
	}
	return nil
}

func (b *bundleReader) readSnapshot(s bundleState) (*infer.Snapshot, error) {
	data, err := b.readFile(s.bundleEntry)
	snapshot := new(infer.Snapshot)
	if err == nil {
		err = snapshot.UnmarshalBinary(data)
	}
	if err != nil {
		return nil, fmt.Errorf("the state of turn %d: %w", s.Turn, err)
	}
	return snapshot, nil
}

// openFile reads a file of the bundle. Closing says whether it was what the
// manifest says, whose own size and checksum are not given.
func (b *bundleReader) openFile(e bundleEntry, limit int64) (*checkedFile, error) {
	f := b.files[e.File]
	if f == nil {
		return nil, fmt.Errorf("%.60q is missing", e.File)
	}
	if f.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%.60q unpacks to %d bytes; %d can be read", e.File, f.UncompressedSize64, limit)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%.60q: %w", e.File, err)
	}
	sum := &checksum{w: io.Discard, hash: sha256.New()}
	return &checkedFile{io.TeeReader(io.LimitReader(r, limit), sum), r, sum, e}, nil
}

// A checkedFile compares what was read of a file with what the manifest says.
type checkedFile struct {
	io.Reader
	file  io.Closer
	sum   *checksum
	entry bundleEntry
}

// Close says whether the whole file was read and is as it was written.
func (c *checkedFile) Close() error {
	err := c.file.Close()
	if c.entry.SHA256 == "" && c.entry.File == bundleManifest || err != nil {
		return err
	}
	if c.sum.size != c.entry.Size || hex.EncodeToString(c.sum.hash.Sum(nil)) != c.entry.SHA256 {
		return errors.New("its checksum is not that of the manifest: the file is damaged")
	}
	return nil
}
