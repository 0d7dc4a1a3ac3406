package chat_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/scripted"
)

// A lodge opens two other models: the embedded one with wider weights, which
// has the same tokens, and a scripted one with tokens of its own.
type lodge struct {
	opened, closed atomic.Int32
	told           atomic.Int64 // the last progress
}

func (l *lodge) open(ctx context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
	var e *infer.Engine
	switch path {
	case "wide":
		m, b, err := load.Open(ctx, load.Spec{Backend: "cpu", Weights: "fp32", Slots: 8}, func(p load.Progress) { progress(p.Done, p.Total) })
		if err != nil {
			return chat.Opened{}, err
		}
		e = infer.NewEngine(m, b, infer.Options{})
	case "other":
		m := modelNamed("other-model")
		e = infer.NewEngine(m, scripted.New(m, scripted.Options{Answers: answers}), infer.Options{})
		progress(1, 1)
	default:
		return chat.Opened{}, errors.New("there is no such model")
	}
	l.opened.Add(1)
	return chat.Opened{Engine: e, Close: func() error {
		l.closed.Add(1)
		return e.Close()
	}}, nil
}

// left waits until so many models were given back.
func (l *lodge) left(t *testing.T, n int32) {
	t.Helper()
	for end := time.Now().Add(patience); l.closed.Load() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d models were given back, want %d", l.closed.Load(), n)
		}
	}
}

// modelVariants are the conversations' model, the wide one and the other one.
// The second models are held by the caller.
func (l *lodge) modelVariants(t *testing.T, workspace *chat.Workspace) []chat.Variant {
	t.Helper()
	workspace.UseModels(l.open)
	vs := []chat.Variant{{Name: "own"}, {Name: "wide"}, {Name: "other"}}
	for i, path := range []string{"wide", "other"} {
		g, err := workspace.LoadSecondModel(t.Context(), path, func(done, _ int64) { l.told.Store(done) })
		must(t, err)
		vs[i+1].Model = g
	}
	for i := range vs {
		vs[i].Sampling = *seeded(0.8, 5)
	}
	return vs
}

func release(vs []chat.Variant) {
	for _, v := range vs {
		if v.Model != nil {
			v.Model.Release()
		}
	}
}

// wideRoom is a room of the wide model alone.
func wideRoom(t *testing.T, d chat.Defaults) *chat.Workspace {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Weights: "fp32", Slots: 8}, nil)
	must(t, err)
	e := infer.NewEngine(m, b, infer.Options{})
	workspace := chat.NewWorkspace(e, memstore.New(), d)
	t.Cleanup(func() {
		must(t, errors.Join(workspace.Close(context.Background()), e.Close()))
	})
	return workspace
}

// Models answer side by side what each answers alone. They stay until a choice
// is made, and are given back then; the conversation goes on with its own
// model, which reads what was chosen.
func TestComparingModels(t *testing.T) {
	settings := chat.Defaults{Sampling: seeded(0.8, 5), MaxTokens: 24}
	workspace, _ := demoRoom(t, memstore.New(), settings)
	l := &lodge{}
	vs := l.modelVariants(t, workspace)
	d := workspace.New()
	must(t, d.SendCompare("story", vs))
	release(vs)
	v := finished(t, d)
	if len(v.Alternatives) != 3 || v.Err != nil {
		t.Fatalf("%d rows, error %v", len(v.Alternatives), v.Err)
	}
	own, wide, other := v.Alternatives[0], v.Alternatives[1], v.Alternatives[2]
	if want := alone(t, wideRoom(t, settings), chat.Variant{Sampling: *seeded(0.8, 5)}, "story"); wide.Text != want.Text {
		t.Errorf("the wide model says %q, alone %q", wide.Text, want.Text)
	}
	if want := alone(t, workspace, vs[0], "story"); own.Text != want.Text {
		t.Errorf("the conversation's model says %q, alone %q", own.Text, want.Text)
	}
	if want := strings.TrimSpace(story); !strings.HasPrefix(want, other.Text) || len(other.Text) < 10 {
		t.Errorf("the other model says %q", other.Text)
	}
	if d := other.Differs; !d.Found || d.Token != -1 || own.Text[:d.Byte] != other.Text[:d.Byte] {
		t.Errorf("the other model's answer differs at %+v", d)
	}
	if other.Turn.ModelName != "other-model" || wide.Turn.Model == own.Turn.Model {
		t.Errorf("the answers are of %q and %q", other.Turn.ModelName, wide.Turn.Model)
	}
	checkGuestsJudge(t, d, v, vs)
	if n := l.closed.Load(); n != 0 || l.opened.Load() != 2 || l.told.Load() == 0 {
		t.Errorf("%d of %d models were given back before the choice, progress %d", n, l.opened.Load(), l.told.Load())
	}
	goesOnFromGuest(t, workspace, d, v, l)
	if _, err := d.ScoreTurns(t.Context(), []turn.ID{other.Turn.ID}, vs[2]); err == nil {
		t.Error("a model that has left has judged")
	}
	if err := d.Compare(vs); err == nil {
		t.Error("a model that has left was compared")
	}
}

// checkGuestsJudge says that each model finds its own answer as likely as when
// it was drawn, and those of others at all.
func checkGuestsJudge(t *testing.T, d *chat.Dialogue, v chat.View, vs []chat.Variant) {
	t.Helper()
	ids := []turn.ID{v.Alternatives[0].Turn.ID, v.Alternatives[1].Turn.ID, v.Alternatives[2].Turn.ID}
	var own []float64
	for _, reference := range vs {
		judged, err := d.ScoreTurns(t.Context(), ids, reference)
		must(t, err)
		for i := range judged {
			if len(judged[i].LogProbs) == 0 {
				t.Errorf("%s has not judged answer %d", reference.Name, i)
			}
		}
		own = append(own, judged[0].Perplexity())
	}
	if own[0] == own[1] || own[0] > own[2] {
		t.Errorf("the own model's answer has the perplexities %v", own)
	}
}

// goesOnFromGuest keeps the other model's answer, and forks it before.
func goesOnFromGuest(t *testing.T, workspace *chat.Workspace, d *chat.Dialogue, v chat.View, l *lodge) {
	t.Helper()
	other := v.Alternatives[2]
	forks, err := workspace.ForkAlternatives(d, other.Turn.ID)
	must(t, err)
	must(t, d.ChooseAlternatives([]turn.ID{other.Turn.ID}, false))
	l.left(t, 2)
	kept := settled(t, d)
	if c := kept.Conversation; c.Head != other.Turn.ID || c.Adapter != "" || c.Sampling.Temperature != 0.8 {
		t.Errorf("after Keep the conversation is %+v", c)
	}
	const next = "And then?"
	want, err := workspace.Answers(t.Context(), prompt.Question{Messages: []prompt.Message{
		{Role: turn.RoleUser, Text: "story"}, {Role: turn.RoleAssistant, Text: other.Text}, {Role: turn.RoleUser, Text: next},
	}}, []chat.Variant{{Sampling: *seeded(0.8, 5)}})
	must(t, err)
	for _, at := range append(forks, d) {
		if c := at.View().Conversation; len(forks) == 1 && at == forks[0] && !strings.HasSuffix(c.Title, "other") {
			t.Errorf("the fork is called %q", c.Title)
		}
		must(t, at.SetSampling(*seeded(0.8, 5), ""))
		got := last(ask(t, at, next))
		if got.Text != want[0].Text || got.ModelName != "rookery-demo" {
			t.Errorf("%s goes on with %q, want %q", got.ModelName, got.Text, want[0].Text)
		}
	}
}

// A second model is loaded once for all who hold it, and again when it has left. A
// model that cannot be loaded is none, and a closed workspace takes none.
func TestGuestsComeAndGo(t *testing.T) {
	r := newRoom(t, setup{})
	if _, err := r.workspace.LoadSecondModel(t.Context(), "other", nil); !errors.Is(err, chat.ErrNoSecondModels) {
		t.Errorf("without models: %v", err)
	}
	l := &lodge{}
	r.workspace.UseModels(l.open)
	quiet := func(int64, int64) {}
	a, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet)
	must(t, err)
	b, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet)
	must(t, err)
	if a != b || l.opened.Load() != 1 {
		t.Errorf("it was loaded %d times", l.opened.Load())
	}
	if n, err := r.workspace.SecondModelBytes(t.Context()); err != nil || n <= 0 {
		t.Errorf("it takes %d bytes, %v", n, err)
	}
	a.Release()
	if !b.Retain() {
		t.Error("it has left while it was held")
	}
	b.Release()
	b.Release()
	l.left(t, 1)
	if n, err := r.workspace.SecondModelBytes(t.Context()); err != nil || n != 0 {
		t.Errorf("one that has left takes %d bytes, %v", n, err)
	}
	if b.Retain() {
		t.Error("one that has left can be held")
	}
	if _, err := r.workspace.LoadSecondModel(t.Context(), "nobody", quiet); err == nil {
		t.Error("a model that is not there was loaded")
	}
	if _, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet); err != nil || l.opened.Load() != 2 {
		t.Errorf("it comes back: %v, loaded %d times", err, l.opened.Load())
	}
	r.close() // with a second model that is held
	l.left(t, 2)
	if _, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet); err == nil {
		t.Error("a shut workspace took a second model")
	}
}

// Who waits for a model can give up, who wants one that is there does not wait,
// and a workspace that is closed ends the loading.
func TestGuestsAreNotWaitedFor(t *testing.T) {
	r := newRoom(t, setup{})
	l := &lodge{}
	begun := make(chan struct{})
	r.workspace.UseModels(func(ctx context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
		if path == "endless" {
			close(begun)
			<-ctx.Done()
			return chat.Opened{}, ctx.Err()
		}
		return l.open(ctx, path, progress)
	})
	quiet := func(int64, int64) {}
	_, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet)
	must(t, err)
	loaded := make(chan error, 1)
	go func() {
		_, err := r.workspace.LoadSecondModel(context.WithoutCancel(t.Context()), "endless", quiet)
		loaded <- err
	}()
	select {
	case <-begun:
	case err := <-loaded:
		t.Fatalf("nothing is loaded: %v", err)
	}
	if _, err := r.workspace.LoadSecondModel(t.Context(), "other", quiet); err != nil || l.opened.Load() != 1 {
		t.Errorf("beside one that is being loaded: %v, loaded %d times", err, l.opened.Load())
	}
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, err := r.workspace.LoadSecondModel(given, "wide", quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	r.close()
	if err := <-loaded; !errors.Is(err, context.Canceled) {
		t.Errorf("loading while the workspace was closed: %v", err)
	}
	l.left(t, 1)
}

// A conversation that is closed while second models answer lets them go when they have stopped.
func TestClosingAConversationDismissesGuests(t *testing.T) {
	r := newRoom(t, setup{})
	l := &lodge{}
	r.workspace.UseModels(l.open)
	g, err := r.workspace.LoadSecondModel(t.Context(), "other", func(int64, int64) {})
	must(t, err)
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.SendCompare("story", []chat.Variant{{Name: "a"}, {Name: "b", Model: g}}))
	g.Release()
	until(t, d, "the second model's answer", func(v chat.View) bool {
		return len(v.Alternatives) == 2 && v.Alternatives[1].Ended
	})
	r.gate.open()
	r.workspace.CloseDialogue(d)
	l.left(t, 1)
}
