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
	// Like has the preset and the sampling of conversations of other programs, which
	// say nothing of them; nil is those of World models.
	Like *turn.Conversation

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

// Plan says what would become of every conversation; nothing is stored. What
// Commit would refuse is an error here, too.
func (p *Import) Plan(ctx context.Context, store turn.Store) ([]Result, error) {
	results, trees, err := p.plan(ctx, store, nil)
	for i := 0; i < len(trees) && err == nil; i++ {
		err = readStates(ctx, &trees[i])
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}

// readStates reads all states of a tree, for the errors.
func readStates(ctx context.Context, t *turn.Tree) error {
	for _, s := range t.States {
		if _, err := s.Read(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, b := range t.Bases {
		if _, err := b.Read(); err != nil {
			return err
		}
	}
	return nil
}

// Commit stores in one transaction what is not stored yet. Nothing that is
// stored is changed.
func (p *Import) Commit(ctx context.Context, store turn.Store) ([]Result, error) {
	const attempts = 8 // it is rare that another conversation has the id of a turn
	avoid := map[turn.ID]bool{}
	for attempt := 0; ; attempt++ {
		results, trees, err := p.plan(ctx, store, avoid)
		if err != nil || len(trees) == 0 {
			return results, err
		}
		trees, added, err := addLibrary(ctx, store, trees)
		if err == nil {
			err = store.Import(ctx, trees)
		}
		if err != nil {
			for _, id := range added { // nothing begins from them yet
				if derr := store.DeleteState(ctx, id); derr != nil {
					err = fmt.Errorf("%w (and removing a state again: %w)", err, derr)
				}
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
		return results, nil
	}
}

// plan finds the ids under which trees are stored, and the trees that are to be
// stored. Ids of avoid are not used.
func (p *Import) plan(ctx context.Context, store turn.Store, avoid map[turn.ID]bool) (results []Result, trees []turn.Tree, err error) {
	list, err := store.Conversations(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, err := store.States(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := planner{store: store, stored: make(map[turn.ID]turn.Conversation, len(list)), coming: map[turn.ID]turn.Tree{}, avoid: avoid}
	for _, c := range list {
		at.stored[c.ID] = c
	}
	for _, t := range p.trees {
		r, t, err := at.place(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		if r.Outcome != OutcomePresent {
			r.Note = describeMissing(&t, states)
			trees = append(trees, t)
		}
		results = append(results, r)
	}
	return append(results, p.results...), trees, nil
}

// A planner knows which ids of conversations are in use.
type planner struct {
	store  turn.Store
	stored map[turn.ID]turn.Conversation
	coming map[turn.ID]turn.Tree // trees of this import
	avoid  map[turn.ID]bool
}

// place finds the ids that a tree is stored under. It tries the tree's own, and
// then others, until they are free or have the same turns.
func (p *planner) place(ctx context.Context, tree turn.Tree) (Result, turn.Tree, error) {
	r := Result{Title: tree.Conversation.Title, Turns: len(tree.Turns), States: len(tree.States), Outcome: OutcomeNew}
	for try := 0; ; try++ {
		t := tree
		if try > 0 {
			r.Outcome, t = OutcomeCopy, shiftIDs(tree, try)
		}
		r.ID = t.Conversation.ID
		there, note, err := p.find(ctx, r.ID)
		switch {
		case err != nil:
			return r, t, err
		case p.avoid[r.ID]:
		case there == nil:
			p.coming[r.ID] = t
			return r, t, nil
		case coverTurns(there, t.Turns):
			r.Outcome, r.Note = OutcomePresent, note
			return r, t, nil
		}
	}
}

// find returns the turns that are stored, or come before, under an id; nil if it
// is free. The note is about who has it.
func (p *planner) find(ctx context.Context, id turn.ID) (turns []turn.Turn, note string, err error) {
	if t, ok := p.coming[id]; ok {
		return t.Turns, "given twice", nil
	}
	c, ok := p.stored[id]
	if !ok {
		return nil, "", nil
	}
	if !c.Deleted.IsZero() {
		note = "in the bin"
	}
	_, turns, err = p.store.Load(ctx, id)
	if turns == nil {
		turns = []turn.Turn{}
	}
	return turns, note, err
}

// describeMissing says which states a tree needs that neither it nor the
// library has.
func describeMissing(t *turn.Tree, there []turn.State) string {
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

// coverTurns reports whether stored turns hold all of others. A stored answer
// may be longer: it was continued.
func coverTurns(stored, turns []turn.Turn) bool {
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

// shiftIDs gives a tree other ids: all are greater by the same number. It keeps
// their order, and follows from the tree and the try, so that the same tree gets
// the same ids when it is imported again.
func shiftIDs(t turn.Tree, try int) turn.Tree {
	by := turn.ID(digestTurns(t)>>33) + turn.ID(try) // half a second of creation time at most
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

// digestTurns is a hash of the turns of a tree.
func digestTurns(t turn.Tree) uint64 {
	sum := sha256.New()
	for _, tn := range t.Turns {
		_, _ = fmt.Fprintf(sum, "%d %d %d %d\n%s", tn.ID, tn.Parent, tn.Role, len(tn.Text), tn.Text)
	}
	return binary.LittleEndian.Uint64(sum.Sum(nil))
}
