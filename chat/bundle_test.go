package chat_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/statefile"
)

// grown is a conversation with versions, thoughts of its own and a stopped answer.
func grown(t *testing.T, r *room) *chat.Dialogue {
	t.Helper()
	d := r.workspace.New()
	p := d.View().Conversation.Sampling
	p.Seed, p.Temperature = 7, 1
	must(t, d.SetSampling(p, ""))
	must(t, d.SetSystem("Be brief.\x00 And kind: \xff"))
	ask(t, d, "hello")
	must(t, d.Retry())
	settled(t, d)
	ask(t, d, "story")
	must(t, d.EditLast("again"))
	v := settled(t, d)
	must(t, d.SwitchSibling(v.Turns[2].ID, -1))
	settled(t, d)
	must(t, r.workspace.SetPinned(context.Background(), d.ID(), true))
	settled(t, d)
	return d
}

func TestBundleRoundTripIsLossless(t *testing.T) {
	for _, states := range []bool{true, false} {
		from := newRoom(t, setup{babble: true})
		d := grown(t, from)
		from.workspace.CloseDialogue(d)
		must(t, from.workspace.SetArchived(context.Background(), d.ID(), true))
		data := bundled(t, from.store, states, d.ID())

		store := memstore.New()
		if got := imported(t, store, data); len(got) != 1 || got[0].Outcome != transfer.OutcomeNew || got[0].ID != d.ID() {
			t.Fatalf("arrived: %+v", got)
		}
		same(t, from.store, store, d.ID(), states)
		if again := bundled(t, store, states, d.ID()); !equalButTime(t, data, again) {
			t.Error("a bundle of what was imported is another one")
		}

		to := newRoom(t, setup{babble: true, store: store})
		a, b := from.workspace.Open(d.ID()), to.workspace.Open(d.ID())
		settled(t, a)
		settled(t, b)
		acts := []func(*chat.Dialogue) error{(*chat.Dialogue).Retry, func(d *chat.Dialogue) error { return d.Send("and then?") }}
		if states { // how many draws a stop has cost is known to the state alone
			acts = append(acts, (*chat.Dialogue).Continue)
		}
		for _, act := range acts {
			must(t, act(a))
			must(t, act(b))
			x, y := last(settled(t, a)), last(settled(t, b))
			if x.Text != y.Text || !cmp.Equal(x.Tokens, y.Tokens) || len(x.Tokens) == 0 {
				t.Errorf("states %v: going on gave\n%.80q here and\n%.80q there", states, x.Text, y.Text)
			}
		}
	}
}

// A conversation that begins from a state of the library brings it along.
func TestBundleOfABeginning(t *testing.T) {
	ctx := context.Background()
	from := newRoom(t, setup{babble: true})
	d, err := from.workspace.NewFrom(bake(t, from, "book"))
	must(t, err)
	p := d.View().Conversation.Sampling
	p.Seed, p.Temperature = 7, 1
	must(t, d.SetSampling(p, ""))
	ask(t, d, "hello")
	data := bundled(t, from.store, false, d.ID(), d.ID())
	to := newRoom(t, setup{babble: true})
	mine, err := to.workspace.Library().Bake(ctx, to.engine, library.Recipe{Name: "book", Text: "Another one of that name."}, nil)
	must(t, err)
	arrivals := imported(t, to.store, data)
	if arrivals[0].Outcome != transfer.OutcomeNew || arrivals[0].Note != "" {
		t.Errorf("arrived %+v", arrivals)
	}
	s, err := to.store.State(ctx, d.View().Conversation.Base)
	must(t, err)
	if s.Name != "book (2)" || s.ID == mine.ID || len(s.Tokens) == 0 {
		t.Errorf("the library has %q, %d tokens", s.Name, len(s.Tokens))
	}
	there := to.workspace.Open(d.ID())
	settled(t, there)
	for _, d := range []*chat.Dialogue{d, there} {
		must(t, d.Send("and then?"))
	}
	if a, b := last(settled(t, d)), last(settled(t, there)); a.Text != b.Text || len(a.Tokens) == 0 {
		t.Errorf("going on gave\n%.80q here and\n%.80q there", a.Text, b.Text)
	}

	files := unzipped(t, data)
	for name, text := range files {
		if strings.HasPrefix(name, "bases/") {
			files[name] = text[:len(text)-9] + "x" + text[len(text)-8:]
		}
	}
	broken := zipped(t, files, false)
	store := memstore.New()
	var imp transfer.Import
	must(t, imp.Read(bytes.NewReader(broken), int64(len(broken))))
	if _, err := imp.Commit(ctx, store); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a damaged state: %v", err)
	}
	states, err := store.States(ctx)
	must(t, err)
	if list, err := store.Conversations(ctx); err != nil || len(list)+len(states) != 0 {
		t.Errorf("%d conversations and %d states were written, %v", len(list), len(states), err)
	}
}

func TestImportNeverOverwrites(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	short := bundled(t, r.store, true, d.ID())
	ask(t, d, "story")
	r.workspace.CloseDialogue(d)
	long := bundled(t, r.store, true, d.ID())

	fate := func(a []transfer.Result) string {
		var all []string
		for _, a := range a {
			all = append(all, string(a.Outcome)+" "+a.Note)
		}
		return strings.Join(all, ",")
	}
	if got := fate(imported(t, r.store, short, long)); got != "present ,present " {
		t.Errorf("what is stored already: %s", got)
	}
	store := memstore.New()
	if got := fate(imported(t, store, short, short)); got != "new ,present given twice" {
		t.Errorf("the same twice: %s", got)
	}
	before, turns, err := store.Load(ctx, d.ID())
	must(t, err)
	first := imported(t, store, long) // has more than what is stored
	if fate(first) != "copy " || first[0].ID == d.ID() {
		t.Errorf("another version: %+v", first)
	}
	second := imported(t, store, long)
	if fate(second) != "present " || second[0].ID != first[0].ID {
		t.Errorf("another version twice: %+v", second)
	}
	after, kept, err := store.Load(ctx, d.ID())
	must(t, err)
	if diff := cmp.Diff(before, after) + cmp.Diff(turns, kept); diff != "" {
		t.Errorf("the import changed what was stored:\n%s", diff)
	}
	copied := newRoom(t, setup{store: store})
	v := settled(t, copied.workspace.Open(first[0].ID))
	if len(v.Turns) != 4 || v.Turns[3].Text != d.View().Turns[3].Text {
		t.Errorf("the copy holds %q", texts(v))
	}
	if s, err := store.Snapshot(ctx, v.Turns[3].ID); err != nil || s == nil {
		t.Errorf("the copy has no states: %v", err)
	}
	must(t, copied.workspace.MoveToBin(ctx, first[0].ID))
	if got := fate(imported(t, store, long)); got != "present in the bin" {
		t.Errorf("what is in the bin: %s", got)
	}
}

func TestTakenTurnsGetNewIDs(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	r.workspace.CloseDialogue(d)
	data := bundled(t, r.store, true, d.ID())
	store := memstore.New()
	tn := d.View().Turns[0]
	must(t, store.CommitTurn(ctx, turn.Conversation{ID: 5, Title: "another"}, tn, nil))
	got := imported(t, store, data)
	if got[0].Outcome != transfer.OutcomeCopy || got[0].ID == d.ID() {
		t.Errorf("arrived %+v", got)
	}
	if _, turns, err := store.Load(ctx, 5); err != nil || len(turns) != 1 || turns[0].ID != tn.ID {
		t.Errorf("the other conversation is %v, %v", turns, err)
	}
}

func TestDeskImport(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	file := `[{"title":"Greeting","conversations":[{"from":"human","value":"hello"},{"from":"gpt","value":"Hi!"}]}]`
	got, err := r.workspace.Import(ctx, strings.NewReader(file), int64(len(file)))
	must(t, err)
	d := r.workspace.Open(got[0].ID)
	if v := settled(t, d); v.Conversation.Title != "Greeting" || len(v.Turns) != 2 {
		t.Fatalf("%+v", v)
	}
	v := ask(t, d, "again")
	if last(v).Text != "Hello again." {
		t.Errorf("went on with %q", last(v).Text)
	}
	r.store.set(func(string) error { return errors.New("disk full") })
	if _, err := r.workspace.Import(ctx, strings.NewReader("[{"), 2); err == nil {
		t.Error("half an object was imported")
	}
}

func FuzzImport(f *testing.F) {
	store := memstore.New()
	c := turn.Conversation{ID: 1 << 20, Title: "t", Think: turn.ThinkOff, Created: time.Unix(0, 0), Updated: time.Unix(0, 0), Head: 2 << 20, Tip: 2 << 20}
	ctx := context.Background()
	for _, tn := range []turn.Turn{
		{ID: 1<<20 + 1, Role: turn.RoleUser, Text: "hello", Tokens: []int32{1, 2}},
		{ID: 2 << 20, Parent: 1<<20 + 1, Role: turn.RoleAssistant, Text: "hi", Tokens: []int32{3}, Recall: []int32{}},
	} {
		if err := store.CommitTurn(ctx, c, tn, &infer.Snapshot{Model: "m", State: []float32{1, 2}, Position: 2}); err != nil {
			f.Fatal(err)
		}
	}
	bundle := bundled(f, store, true, c.ID)
	f.Add(bundle)
	shape := rwkv.Shape{Version: rwkv.V7, Layers: 1, Embed: 1, Heads: 1, HeadSize: 1}
	if err := store.SaveState(ctx, turn.State{ID: 3 << 20, Read: 1, State: statefile.State{
		Name: "s", Kind: statefile.Baked, Model: "m", Shape: shape, Tokens: []int32{1},
		Snapshot: &infer.Snapshot{Model: "m", State: make([]float32, shape.StateLen())},
	}}); err != nil {
		f.Fatal(err)
	}
	c.Base, c.Mix = 3<<20, turn.Mix{Own: turn.MixMember{Weight: 1}, Others: []turn.MixMember{{State: 3 << 20, Name: "s", Weight: 1}}}
	if err := store.SaveConversation(ctx, c); err != nil {
		f.Fatal(err)
	}
	f.Add(bundled(f, store, true, c.ID))
	f.Add([]byte(unzipped(f, bundle)["conversations/1048576.json"]))
	for _, name := range []string{"sharegpt.json", "openai.jsonl"} {
		data, err := os.ReadFile("testdata/import/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p transfer.Import
		if p.Read(bytes.NewReader(data), int64(len(data))) != nil {
			return
		}
		fresh := memstore.New()
		arrivals, err := p.Commit(ctx, fresh)
		if err != nil {
			return
		}
		list, err := fresh.Conversations(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// What was taken can be opened, exported, and comes back as it was.
		for _, c := range list {
			again := memstore.New()
			if got := imported(t, again, bundled(t, fresh, true, c.ID)); got[0].ID != c.ID {
				t.Fatalf("%+v of %+v", got, arrivals)
			}
			same(t, fresh, again, c.ID, true)
		}
	})
}
