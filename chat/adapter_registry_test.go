package chat_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/checkpoint"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/statefile"
)

// adapterFile writes one of the embedded adapters as its trainer wrote it.
func adapterFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".pth")
	unpackAdapter(t, name, path)
	return path
}

func unpackAdapter(t *testing.T, name, path string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("../infer/demo/adapters", name+".pth.gz"))
	must(t, err)
	z, err := gzip.NewReader(packed)
	must(t, err)
	data, err := io.ReadAll(z)
	must(t, errors.Join(err, packed.Close()))
	must(t, os.WriteFile(path, data, 0o600))
}

// adapted is a workspace with the embedded model, which can read adapters. closing
// ends it; it is ended with the test at the latest.
func adapted(t *testing.T, store turn.Store) (workspace *chat.Workspace, e *infer.Engine, closing func()) {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Threads: 1, Slots: 8}, nil)
	must(t, err)
	e = infer.NewEngine(m, b, infer.Options{})
	sampling := sampler.Params{Temperature: 1, TopP: 0.9, Seed: 7}
	workspace = chat.NewWorkspace(e, store, chat.Defaults{Sampling: &sampling, MaxTokens: 24})
	workspace.UseAdapters(func(_ context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
		if path == "" {
			return demo.OpenAdapter(name, o)
		}
		weights, err := demo.Open()
		if err != nil {
			return nil, err
		}
		return adapter.Open(path, m.Shape, adapter.BaseOf(weights), o)
	}, []string{"demo-pirate", "demo-excited"})
	open := true
	closing = func() {
		if open {
			open = false
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			must(t, errors.Join(workspace.Close(ctx), e.Close()))
		}
	}
	t.Cleanup(closing)
	return workspace, e, closing
}

// find looks an adapter up and takes it for a conversation.
func find(t *testing.T, r *library.AdapterRegistry, name string, o adapter.Options) turn.Adapter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience) // it waits for the engine's step
	defer cancel()
	a, err := r.Find(ctx, name, o)
	must(t, err)
	return a
}

func titles(t *testing.T, r *library.AdapterRegistry) string {
	t.Helper()
	list, err := r.List(t.Context())
	must(t, err)
	var out []string
	for _, a := range list {
		text := a.Title()
		if a.Loaded != nil {
			text += "*"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func refused(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v; it should say %q", err, text)
	}
}

func TestRackNamesAndStrengths(t *testing.T) {
	workspace, _, _ := adapted(t, memstore.New())
	r := workspace.Adapters()
	if got := titles(t, r); got != "demo-excited, demo-pirate" {
		t.Errorf("known are %s", got)
	}
	one := find(t, r, "demo-pirate", adapter.Options{})
	half := find(t, r, "demo-pirate", adapter.Options{Strength: 0.5})
	if one.Fingerprint == half.Fingerprint || half.Name != "demo-pirate" || half.Title() != "demo-pirate × 0.5" {
		t.Errorf("half of %+v is %+v", one, half)
	}
	for name, want := range map[string]turn.Adapter{
		"demo-pirate": one, "demo-pirate × 0.5": half, half.Fingerprint: half,
	} {
		if got := find(t, r, name, adapter.Options{}); got.Fingerprint != want.Fingerprint {
			t.Errorf("%q is %s, want %s", name, got.Title(), want.Title())
		}
	}
	if got := titles(t, r); got != "demo-excited, demo-pirate × 0.5*, demo-pirate*" {
		t.Errorf("known are %s", got)
	}
	list, err := r.List(t.Context())
	must(t, err)
	if f := library.GroupByFamily(list); len(f) != 2 || len(f[1]) != 2 {
		t.Errorf("%d families", len(f))
	}
	must(t, r.Tidy(t.Context(), half))
	if got := titles(t, r); got != "demo-excited, demo-pirate × 0.5*, demo-pirate" {
		t.Errorf("after tidying known are %s", got)
	}
	again, err := r.Strengthen(t.Context(), half, 1)
	must(t, err)
	if again.Fingerprint != one.Fingerprint {
		t.Error("strength 1 is not the adapter itself")
	}
	must(t, r.Forget(t.Context(), one))
	if got := titles(t, r); got != "demo-excited, demo-pirate" {
		t.Errorf("after forgetting known are %s", got)
	}
	_, err = r.Find(t.Context(), "nobody", adapter.Options{})
	refused(t, err, `there is no adapter "nobody": there are`)
	merged, err := r.Merge(t.Context(), find(t, r, "demo-pirate", adapter.Options{}), true)
	must(t, err)
	if list, err = r.List(t.Context()); err != nil || !list[1].Loaded.Merged || !merged.Merged {
		t.Errorf("merged is %+v, %v", list, err)
	}
}

func TestRackQuestionsAndAnswers(t *testing.T) {
	workspace, _, _ := adapted(t, memstore.New())
	r, path := workspace.Adapters(), adapterFile(t, "pirate")
	var q *adapter.QuestionError
	if _, err := r.Find(t.Context(), path, adapter.Options{}); !errors.As(err, &q) || q.Asked != "alpha" {
		t.Fatalf("without alpha: %v", err)
	}
	a := find(t, r, path, adapter.Options{Alpha: 32})
	for _, name := range []string{path, "pirate"} { // the answer is remembered
		if got := find(t, r, name, adapter.Options{}); got.Fingerprint != a.Fingerprint {
			t.Errorf("%s is another adapter", name)
		}
		if got := find(t, r, name, adapter.Options{Strength: 2}); got.Options.Alpha != 32 || got.Strength() != 2 {
			t.Errorf("%s at strength 2 is %+v", name, got)
		}
	}
	other := adapterFile(t, "pirate")
	find(t, r, other, adapter.Options{Alpha: 32})
	_, err := r.Find(t.Context(), "pirate", adapter.Options{})
	refused(t, err, `are both called "pirate": name one by its file`)
}

// A conversation keeps its adapter over a restart; one whose file has changed
// or is gone says so, and goes on without it.
func TestAdaptersOverRestarts(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			path := adapterFile(t, "excited")
			workspace, _, stop := adapted(t, open())
			d := workspace.New()
			must(t, d.SetAdapter(find(t, workspace.Adapters(), path, adapter.Options{Strength: 0.5})))
			first := ask(t, d, "Tell me a story about a brave cat.")
			stop()

			workspace, e, stop := adapted(t, open())
			d = workspace.Open(d.ID())
			v := settled(t, d)
			if v.Adapter != "excited × 0.5" || last(v).Adapter != "excited × 0.5" {
				t.Errorf("the adapter is %q, that of the answer %q", v.Adapter, last(v).Adapter)
			}
			if loaded, err := e.Adapters(t.Context()); err != nil || len(loaded) != 0 {
				t.Errorf("loaded before it is needed: %v, %v", loaded, err)
			}
			must(t, d.Retry())
			if v = settled(t, d); v.Err != nil || last(v).Adapter != "excited × 0.5" {
				t.Errorf("after a restart it is answered with %q, %v", last(v).Adapter, v.Err)
			}
			fresh := workspace.New()
			must(t, fresh.SetAdapter(find(t, workspace.Adapters(), "excited × 0.5", adapter.Options{})))
			if v = ask(t, fresh, "Tell me a story about a brave cat."); last(v).Text != last(first).Text {
				t.Errorf("after a restart it answers %q, before %q", last(v).Text, last(first).Text)
			}
			stop()

			unpackAdapter(t, "pirate", path)
			must(t, os.WriteFile(strings.TrimSuffix(path, ".pth")+".json", []byte(`{"alpha": 32}`), 0o600))
			workspace, e, stop = adapted(t, open())
			d = workspace.Open(d.ID())
			settled(t, d)
			must(t, d.Retry())
			refused(t, until(t, d, "an error", func(v chat.View) bool { return v.Err != nil }).Err, "has changed since it was used")
			if loaded, err := e.Adapters(t.Context()); err != nil || len(loaded) != 0 {
				t.Errorf("the changed file is loaded: %v, %v", loaded, err)
			}
			must(t, os.Remove(path))
			must(t, d.Retry())
			refused(t, until(t, d, "another error", func(v chat.View) bool {
				return v.Err != nil && strings.Contains(v.Err.Error(), "gone")
			}).Err, "choose another adapter, or none")
			must(t, d.SetAdapter(turn.Adapter{}))
			must(t, d.Retry())
			if v = settled(t, d); v.Err != nil || last(v).Adapter != "" {
				t.Errorf("without the adapter: %q, %v", last(v).Adapter, v.Err)
			}
			stop()
		})
	}
}

func TestDropInUseAndHotSwap(t *testing.T) {
	workspace, e, _ := adapted(t, memstore.New())
	r := workspace.Adapters()
	a := find(t, r, "demo-pirate", adapter.Options{})
	full := find(t, r, "demo-pirate", adapter.Options{Strength: 2})
	m := e.Model()
	running, err := e.Submit(infer.Request{
		Tokens: m.Tokenizer.Encode(nil, "User: Tell me a story.\n\nAssistant:"), MaxTokens: 1 << 20, Adapter: a.Fingerprint,
		Sampling: sampler.Params{Temperature: 1, TopP: 0.9, Seed: 1, Ban: []int32{0}},
	})
	must(t, err)
	refused(t, r.Drop(t.Context(), a.Fingerprint), "in use by 1 answers")
	refused(t, r.Forget(t.Context(), a), "in use by 1 answers")
	must(t, r.Tidy(t.Context(), full))
	if got := titles(t, r); got != "demo-excited, demo-pirate*, demo-pirate × 2*" {
		t.Errorf("tidying has left %s", got)
	}
	running.SetAdapter(full.Fingerprint)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		must(t, r.Tidy(t.Context(), full))
		if titles(t, r) == "demo-excited, demo-pirate, demo-pirate × 2*" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the old strength stays: %s", titles(t, r))
		}
	}
	running.Cancel()
	<-running.Done()
	must(t, r.Drop(t.Context(), full.Fingerprint))
}

func TestUnknownAdapter(t *testing.T) {
	store := memstore.New()
	workspace, _, stop := adapted(t, store)
	d := workspace.New()
	a := find(t, workspace.Adapters(), "demo-excited", adapter.Options{})
	must(t, d.SetAdapter(a))
	ask(t, d, "Hello")
	stop()
	must(t, store.ForgetAdapter(t.Context(), a.Fingerprint))
	workspace, _, _ = adapted(t, store)
	d = workspace.Open(d.ID())
	if v := settled(t, d); v.Adapter != "unknown adapter" {
		t.Errorf("it is called %q", v.Adapter)
	}
	must(t, d.Send("again"))
	refused(t, until(t, d, "an error", func(v chat.View) bool { return v.Err != nil }).Err, "is not known here")
}

// A state that is kept belongs to the adapter that made it.
func TestStatesOfAdapters(t *testing.T) {
	store := memstore.New()
	workspace, _, _ := adapted(t, store)
	ctx, r := t.Context(), workspace.Adapters()
	pirate, excited := find(t, r, "demo-pirate", adapter.Options{}), find(t, r, "demo-excited", adapter.Options{})
	d := workspace.New()
	must(t, d.SetAdapter(pirate))
	answer := last(ask(t, d, "Tell me a story."))
	if snap, err := store.Snapshot(ctx, answer.ID); err != nil || answer.AdapterID != pirate.Fingerprint || snap.Adapter != pirate.Fingerprint {
		t.Fatalf("the answer is of %q, its state of %q (%v)", answer.AdapterID, snap.Adapter, err)
	}
	kept, err := d.SaveState(ctx, answer.ID, "aboard")
	must(t, err)
	if kept.Adapter != pirate.Fingerprint || kept.AdapterName != "demo-pirate" {
		t.Errorf("kept: %+v", kept.State)
	}
	from, err := workspace.NewFrom(kept)
	must(t, err)
	if v := ask(t, from, "And then?"); v.Adapter != "demo-pirate" || last(v).AdapterID != pirate.Fingerprint {
		t.Errorf("it goes on with %q", v.Adapter)
	}
	other := workspace.New()
	must(t, other.SetAdapter(excited))
	err = other.SetBase(kept)
	var mismatch *statefile.AdapterError
	if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "demo-pirate") || !strings.Contains(err.Error(), "demo-excited") {
		t.Errorf("a state of another adapter: %v", err)
	}
	if from, err = workspace.NewFrom(kept); err == nil {
		err = from.SetAdapter(turn.Adapter{})
	}
	refused(t, err, "was made with the adapter demo-pirate, and no adapter is in use")
	with := turn.Mix{Own: turn.MixMember{Weight: 1}, Others: []turn.MixMember{{State: kept.ID, Name: kept.Name, Weight: 1}}}
	must(t, other.SetMix(with))
	must(t, other.Send("Who are you?"))
	refused(t, until(t, other, "an error", func(v chat.View) bool { return v.Err != nil }).Err, "demo-excited is in use")

	// The tokens of an answer are looked at under its own adapter.
	before, err := d.Candidates(ctx, answer.ID, 3, 4)
	must(t, err)
	must(t, d.SetAdapter(excited))
	fresh := workspace.Open(d.ID())
	after, err := fresh.Candidates(ctx, answer.ID, 3, 4)
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("with another adapter in use: %s", diff)
	}

	// A state that is not of the turn's adapter is not the turn's.
	v := settled(t, d)
	snap, err := store.Snapshot(ctx, answer.ID)
	must(t, err)
	foreign := *snap
	foreign.Adapter, foreign.State = "another", make([]float32, len(snap.State))
	workspace.CloseDialogue(d)
	must(t, store.CommitTurn(ctx, v.Conversation, answer, &foreign))
	workspace.SetMemory(0)
	d = workspace.Open(v.Conversation.ID)
	settled(t, d)
	must(t, d.SetAdapter(pirate))
	again, err := d.SaveState(ctx, answer.ID, "again")
	must(t, err)
	got, err := store.State(ctx, again.ID)
	must(t, err)
	want, err := store.State(ctx, kept.ID)
	must(t, err)
	if !slices.Equal(got.Snapshot.State, want.Snapshot.State) {
		t.Error("the state of another adapter was taken for the turn's")
	}
}

// A file with an adapter and a tuned state: the registry gets the one and the library
// the other, once.
func TestAdapterAndStateInOneFile(t *testing.T) {
	workspace, e, _ := adapted(t, memstore.New())
	shape := e.Model().Shape
	lora, err := checkpoint.Open(adapterFile(t, "pirate"))
	must(t, err)
	defer func() { must(t, lora.Close()) }()
	entry := func(name string, dims []int, values []float32) checkpoint.Entry {
		return checkpoint.Entry{Name: name, Type: "F32", Shape: dims, Write: func(w io.Writer) error {
			return binary.Write(w, binary.LittleEndian, values)
		}}
	}
	var entries []checkpoint.Entry
	for _, name := range lora.Names() {
		tensor, _ := lora.Tensor(name)
		values := make([]float32, tensor.Len())
		must(t, tensor.Float32(values, 0))
		entries = append(entries, entry("base_model."+name, tensor.Shape, values))
	}
	for i := range shape.Layers {
		values := make([]float32, shape.Heads*shape.HeadSize*shape.HeadSize)
		values[i] = 1
		entries = append(entries, entry(rwkv.LayerName(i, "att.time_state"), []int{shape.Heads, shape.HeadSize, shape.HeadSize}, values))
	}
	var file bytes.Buffer
	must(t, checkpoint.WriteSafetensors(&file, entries, nil))
	path := filepath.Join(t.TempDir(), "both.safetensors")
	must(t, os.WriteFile(path, file.Bytes(), 0o600))

	r := workspace.Adapters()
	a := find(t, r, path, adapter.Options{Alpha: 32})
	if a.State != "both" || a.Title() != "both" {
		t.Errorf("loaded %q with the state %q", a.Title(), a.State)
	}
	s, err := workspace.Library().Find(t.Context(), "both")
	must(t, err)
	d, err := workspace.NewFrom(s)
	must(t, err)
	must(t, d.SetAdapter(a))
	ask(t, d, "hello")
	must(t, workspace.Library().Rename(t.Context(), s.ID, "mine"))
	if again := find(t, r, path, adapter.Options{Strength: 0.5}); again.State != "" {
		t.Errorf("the state is added again as %q", again.State)
	}
	if list, err := workspace.Library().List(t.Context()); err != nil || list[0].Name != "mine" || len(list) > 1 && list[1].Name == "both" {
		t.Errorf("the library has %v, %v", list, err)
	}
}
