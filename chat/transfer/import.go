package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rookery/chat/turn"
)

// An Outcome is what becomes of a conversation that is imported.
type Outcome string

// The outcomes.
const (
	OutcomeNew     Outcome = "new"
	OutcomeCopy    Outcome = "copy"    // another version of it is stored: it gets new ids
	OutcomePresent Outcome = "present" // all of it is stored already
	OutcomeRefused Outcome = "refused" // it cannot be a conversation; Note says why
)

// An Result is a conversation of an imported file.
type Result struct {
	ID            turn.ID // as it is stored, or would be
	Title         string
	Turns, States int
	Outcome       Outcome
	Note          string
}

// An Import is what files hold, before any of it is stored.
type Import struct {
	trees   []turn.Tree
	results []Result // refused ones, whose trees are missing
}

// Read adds a file: a bundle, the JSON of a tree or of an export, or
// conversations in the forms of ShareGPT or OpenAI, in JSON or JSON lines.
// The file must stay open until the import has been carried out. An error
// leaves the import as it was.
func (p *Import) Read(r io.ReaderAt, size int64) error {
	head := make([]byte, sniffed)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("PK")) {
		trees, err := readBundle(r, size)
		p.trees = append(p.trees, trees...)
		return err
	}
	if isTree(head) {
		t, err := readTree(io.NewSectionReader(r, 0, min(size, bundleJSONBytes)))
		if err == nil {
			p.trees = append(p.trees, t)
		}
		return err
	}
	return p.readForeign(io.NewSectionReader(r, 0, size), size)
}

// sniffed is how much of a file is looked at to tell what it is.
const sniffed = 4096

// isTree reports whether JSON that begins like this is one of ours.
func isTree(head []byte) bool {
	text := strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff"))
	return strings.HasPrefix(text, "{") && strings.Contains(text, `"format"`) &&
		(strings.Contains(text, `"`+treeFormat+`"`) || strings.Contains(text, `"`+lineFormat+`"`))
}

// Plan says what would become of every conversation; nothing is stored.
func (p *Import) Plan(ctx context.Context, store turn.Store) ([]Result, error) {
	arrivals, _, err := p.plan(ctx, store, nil)
	return arrivals, err
}

// Commit stores in one transaction what is not stored yet. Nothing that is
// stored is changed.
func (p *Import) Commit(ctx context.Context, store turn.Store) ([]Result, error) {
	const attempts = 8 // an id of a turn is in use elsewhere once in a blue moon
	avoid := map[turn.ID]bool{}
	for attempt := 0; ; attempt++ {
		arrivals, trees, err := p.plan(ctx, store, avoid)
		if err != nil || len(trees) == 0 {
			return arrivals, err
		}
		trees, added, err := addLibrary(ctx, store, trees)
		if err == nil {
			err = store.Import(ctx, trees)
		}
		if err != nil {
			for _, id := range added { // nothing begins from them yet
				err = errors.Join(err, store.DeleteState(ctx, id))
			}
		}
		var taken *turn.TakenError
		if errors.As(err, &taken) && attempt < attempts {
			avoid[taken.Conversation] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		return arrivals, nil
	}
}

// plan finds the ids under which trees are stored, and those that are to be.
func (p *Import) plan(ctx context.Context, store turn.Store, avoid map[turn.ID]bool) (arrivals []Result, trees []turn.Tree, err error) {
	list, err := store.Conversations(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, err := store.States(ctx)
	if err != nil {
		return nil, nil, err
	}
	stored := make(map[turn.ID]turn.Conversation, len(list))
	for _, c := range list {
		stored[c.ID] = c
	}
	coming := map[turn.ID]turn.Tree{}
	for _, t := range p.trees {
		a := Result{Title: t.Conversation.Title, Turns: len(t.Turns), States: len(t.States), Outcome: OutcomeNew}
		for try := 0; ; try++ {
			at := t
			if try > 0 {
				a.Outcome, at = OutcomeCopy, shifted(t, try)
			}
			a.ID = at.Conversation.ID
			if avoid[a.ID] {
				continue
			}
			if c, ok := stored[a.ID]; ok {
				_, turns, err := store.Load(ctx, a.ID)
				if err != nil {
					return nil, nil, err
				}
				if !covers(turns, at.Turns) {
					continue
				}
				a.Outcome = OutcomePresent
				if !c.Deleted.IsZero() {
					a.Note = "in the bin"
				}
			} else if same, ok := coming[a.ID]; ok {
				if !covers(same.Turns, at.Turns) {
					continue
				}
				a.Outcome, a.Note = OutcomePresent, "given twice"
			} else {
				coming[a.ID] = at
				trees = append(trees, at)
				a.Note = lacks(&at, states)
			}
			break
		}
		arrivals = append(arrivals, a)
	}
	return append(arrivals, p.results...), trees, nil
}

// lacks says which states of the library a tree needs and neither brings nor
// finds there.
func lacks(t *turn.Tree, there []turn.State) string {
	mixed := 0
	for _, id := range libraryStates(t) {
		if slices.ContainsFunc(t.Bases, func(b turn.TreeBase) bool { return b.ID == id }) || hasState(there, id) {
			continue
		}
		if id == t.Conversation.Base {
			return "the state that it begins from is missing"
		}
		mixed++
	}
	switch mixed {
	case 0:
		return ""
	case 1:
		return "a state of its mixes is missing"
	}
	return fmt.Sprintf("%d states of its mixes are missing", mixed)
}

// covers reports whether turns that are stored hold all of others. An answer
// may have been continued since.
func covers(stored, turns []turn.Turn) bool {
	have := make(map[turn.ID]turn.Turn, len(stored))
	for _, t := range stored {
		have[t.ID] = t
	}
	for _, t := range turns {
		h, ok := have[t.ID]
		if !ok || h.Parent != t.Parent || h.Role != t.Role || !strings.HasPrefix(h.Text, t.Text) {
			return false
		}
	}
	return true
}

// shifted is a tree with other ids: all are greater by the same small number,
// which keeps their order and follows from what is in the tree, so that the
// same tree gets the same ids again.
func shifted(t turn.Tree, try int) turn.Tree {
	by := turn.ID(digest(t)>>33) + turn.ID(try) // half a second of creation time at most
	move := func(id *turn.ID) {
		if *id != 0 {
			*id += by
		}
	}
	c := &t.Conversation
	move(&c.ID)
	move(&c.Head)
	move(&c.Tip)
	turns := make([]turn.Turn, len(t.Turns))
	for i, tn := range t.Turns {
		move(&tn.ID)
		move(&tn.Parent)
		turns[i] = tn
	}
	states := make([]turn.TreeState, len(t.States))
	for i, s := range t.States {
		move(&s.Turn)
		states[i] = s
	}
	t.Turns, t.States = turns, states
	return t
}

// digest is a number that follows from the turns of a tree.
func digest(t turn.Tree) uint64 {
	sum := sha256.New()
	for _, tn := range t.Turns {
		_, _ = fmt.Fprintf(sum, "%d %d %d %d\n%s", tn.ID, tn.Parent, tn.Role, len(tn.Text), tn.Text)
	}
	return binary.LittleEndian.Uint64(sum.Sum(nil))
}
