package transfer

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// A bundle is a zip file of whole conversations:
//
//	conversations/ID.json  the JSON of a tree, deflated
//	states/TURN.rksn       the snapshot of a turn in its binary form
//	bases/ID.rkst          a library's state that conversations begin from or mix
//	rookery.json           the manifest, written last
//
// The manifest lists every other file with its size and SHA-256. A reader
// refuses a version it does not know; fields and kinds of files may be added
// within a version. docs/formats.md describes all of it.
const (
	// BundleExt is the ending of a bundle's name.
	BundleExt = ".rookery"

	bundleFormat   = "rookery-bundle"
	bundleVersion  = 1
	bundleManifest = "rookery.json"
)

type bundleFile struct {
	Format        string               `json:"format"`
	Version       int                  `json:"version"`
	Created       time.Time            `json:"created"`
	Conversations []bundleConversation `json:"conversations"`
	Bases         []bundleBase         `json:"bases,omitempty"`
}

type bundleBase struct {
	bundleEntry
	ID turn.ID `json:"id"`
}

type bundleConversation struct {
	bundleEntry
	ID     turn.ID       `json:"id"`
	Title  string        `json:"title"`
	Turns  int           `json:"turns"`
	States []bundleState `json:"states,omitempty"`
}

type bundleState struct {
	bundleEntry
	Turn turn.ID `json:"turn"`
}

// A bundleEntry is a file in the bundle.
type bundleEntry struct {
	File   string `json:"file"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// A BundleWriter writes a bundle, one conversation after the other.
type BundleWriter struct {
	zip  *zip.Writer
	file bundleFile
	have map[turn.ID]bool // conversations, and states that they begin from or mix
	left []error          // why states of the library were left out
}

// Left is why states of the library were left out: they cannot be read.
func (b *BundleWriter) Left() []error { return b.left }

// NewBundleWriter begins a bundle. Close completes it.
func NewBundleWriter(w io.Writer) *BundleWriter {
	return &BundleWriter{zip.NewWriter(w), bundleFile{
		Format: bundleFormat, Version: bundleVersion, Created: time.Now().UTC(), Conversations: []bundleConversation{},
	}, map[turn.ID]bool{}, nil}
}

// Add writes a conversation and its states. A state that cannot be read is
// left out: it is made anew from tokens where it is needed. A conversation that
// is in the bundle already is not written again.
func (b *BundleWriter) Add(t turn.Tree) error {
	if b.have[t.Conversation.ID] {
		return nil
	}
	b.have[t.Conversation.ID] = true
	c := bundleConversation{ID: t.Conversation.ID, Title: t.Conversation.Title, Turns: len(t.Turns)}
	var err error
	c.bundleEntry, err = b.write("conversations/"+c.ID.String()+".json", zip.Deflate, func(w io.Writer) error { return writeTree(w, t) })
	if err != nil {
		return fmt.Errorf("bundling conversation %q: %w", t.Conversation.Title, err)
	}
	for _, s := range t.States {
		snapshot, err := s.Read()
		if err != nil || snapshot == nil {
			continue
		}
		data, err := snapshot.MarshalBinary()
		if err != nil {
			return fmt.Errorf("bundling the state of turn %d: %w", s.Turn, err)
		}
		entry, err := b.write("states/"+s.Turn.String()+".rksn", zip.Store, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err != nil {
			return fmt.Errorf("bundling the state of turn %d: %w", s.Turn, err)
		}
		c.States = append(c.States, bundleState{entry, s.Turn})
	}
	b.file.Conversations = append(b.file.Conversations, c)
	return b.addBases(t)
}

// addBases writes the states that a conversation begins from and mixes, each
// once in a bundle.
func (b *BundleWriter) addBases(t turn.Tree) error {
	for _, base := range t.Bases {
		if b.have[base.ID] {
			continue
		}
		if err := b.addBase(base); err != nil {
			return fmt.Errorf("bundling a state that %q begins from or mixes: %w", t.Conversation.Title, err)
		}
		b.have[base.ID] = true
	}
	return nil
}

func (b *BundleWriter) addBase(base turn.TreeBase) error {
	s, err := base.Read()
	if err != nil {
		b.left = append(b.left, err)
		return nil
	}
	data, err := s.AppendBinary(nil)
	if err != nil {
		return err
	}
	entry, err := b.write("bases/"+base.ID.String()+".rkst", zip.Store, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	b.file.Bases = append(b.file.Bases, bundleBase{entry, base.ID})
	return nil
}

// write adds a file and says what it is.
func (b *BundleWriter) write(name string, method uint16, write func(io.Writer) error) (bundleEntry, error) {
	w, err := b.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: b.file.Created})
	if err != nil {
		return bundleEntry{}, err
	}
	sum := checksum{w: w, hash: sha256.New()}
	err = write(&sum)
	return bundleEntry{name, sum.size, hex.EncodeToString(sum.hash.Sum(nil))}, err
}

// Close writes the manifest.
func (b *BundleWriter) Close() error {
	_, err := b.write(bundleManifest, zip.Deflate, func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(b.file)
	})
	if err == nil {
		err = b.zip.Close()
	}
	if err != nil {
		return fmt.Errorf("completing the bundle: %w", err)
	}
	return nil
}

// A checksum counts and hashes what is written.
type checksum struct {
	w    io.Writer
	hash hash.Hash
	size int64
}

func (s *checksum) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	return n, err
}

// LoadTree is a stored conversation as a tree, for a bundle; with the states
// that are kept of it if they are wanted. They are read when they are written.
func LoadTree(ctx context.Context, store turn.Store, id turn.ID, states bool) (turn.Tree, error) {
	c, turns, err := store.Load(ctx, id)
	if err != nil {
		return turn.Tree{}, err
	}
	t := turn.Tree{Conversation: c, Turns: turns}
	have, err := store.States(ctx)
	if err != nil {
		return turn.Tree{}, err
	}
	for _, id := range libraryStates(&t) {
		if hasState(have, id) {
			t.Bases = append(t.Bases, turn.TreeBase{ID: id, Read: func() (turn.State, error) { return store.State(ctx, id) }})
		}
	}
	if !states {
		return t, nil
	}
	for _, tn := range turns {
		t.States = append(t.States, turn.TreeState{Turn: tn.ID, Read: func() (*infer.Snapshot, error) { return store.Snapshot(ctx, tn.ID) }})
	}
	return t, nil
}
