package chat_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/demo"
	"rookery/infer/load"
)

// demoRoom is a room with the embedded model, its states and adapters.
func demoRoom(t testing.TB, store turn.Store, d chat.Defaults) (*chat.Workspace, *infer.Engine) {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Slots: 32}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(m, b, infer.Options{})
	workspace := chat.NewWorkspace(e, store, d)
	workspace.UseStates(demo.States)
	workspace.UseAdapters(func(_ context.Context, _, name string, o adapter.Options) (*adapter.Adapter, error) {
		return demo.OpenAdapter(name, o)
	}, []string{"demo-pirate", "demo-excited"})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := workspace.Close(ctx); err != nil {
			t.Errorf("closing the workspace: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
	return workspace, e
}

// variants are the bare model, two adapters, two states and a mix, with the
// same sampling.
func demoVariants(t testing.TB, workspace *chat.Workspace, tokens uint64) []chat.Variant {
	t.Helper()
	vs := make([]chat.Variant, 6)
	for i, name := range []string{"bare", "pirate", "excited", "sad", "animals", "mixed"} {
		vs[i] = chat.Variant{Name: name, Sampling: *seeded(0.8, tokens)}
	}
	var err error
	for i, name := range []string{"demo-pirate", "demo-excited"} {
		vs[1+i].Adapter, err = workspace.Adapters().Find(t.Context(), name, adapter.Options{})
		must(t, err)
	}
	for i, name := range []string{"demo-sad", "demo-animals"} {
		vs[3+i].Base, err = workspace.Library().Find(t.Context(), name)
		must(t, err)
	}
	vs[5].Mix, err = workspace.Library().ParseMix(t.Context(), "own=0.5,demo-sad=0.5")
	must(t, err)
	return vs
}

// alone is the answer of a variant in a conversation that has nothing else.
func alone(t *testing.T, workspace *chat.Workspace, v chat.Variant, prompts ...string) turn.Turn {
	t.Helper()
	d := workspace.New()
	if v.Base.ID != 0 {
		var err error
		d, err = workspace.NewFrom(v.Base)
		must(t, err)
	}
	must(t, d.SetAdapter(v.Adapter))
	must(t, d.SetMix(v.Mix))
	must(t, d.SetSampling(v.Sampling, ""))
	for _, p := range prompts {
		ask(t, d, p)
	}
	return last(d.View())
}

// All variants in one comparison give exactly what each gives alone, each
// reads its own line, and forks of them go on as if they had always been so.
func TestCompareIsWhatEachGivesAlone(t *testing.T) {
	settings := chat.Defaults{Sampling: seeded(0.8, 7), MaxTokens: 24}
	workspace, _ := demoRoom(t, memstore.New(), settings)
	vs := demoVariants(t, workspace, 7)
	const prompt, next = "Tell me a story about a brave cat.", "Tell me another story."
	d := workspace.New()
	must(t, d.SendCompare(prompt, vs))
	v := finished(t, d)
	if len(v.Alternatives) != len(vs) {
		t.Fatalf("%d rows, error %v", len(v.Alternatives), v.Err)
	}
	for i, row := range v.Alternatives {
		want := alone(t, workspace, vs[i], prompt)
		if row.Text != want.Text || !slices.Equal(row.Turn.Tokens, want.Tokens) {
			t.Errorf("%s says %q, alone %q", vs[i].Name, row.Text, want.Text)
		}
		if row.Variant.Name != vs[i].Name || !row.Ended || row.Rate <= 0 || row.FirstToken <= 0 || row.Usage.Generated == 0 {
			t.Errorf("row %d is %+v", i, row)
		}
		if i > 0 {
			checkDifference(t, workspace, v.Alternatives[0], row)
		}
	}
	checkJudged(t, d, v, vs)
	forks, err := workspace.ForkAlternatives(d)
	must(t, err)
	for i, f := range forks {
		if got := f.View().Conversation.Title; !strings.HasSuffix(got, vs[i].Name) {
			t.Errorf("fork %d is called %q", i, got)
		}
		want := alone(t, workspace, vs[i], prompt, next)
		if got := last(ask(t, f, next)); got.Text != want.Text {
			t.Errorf("the fork of %s goes on with %q, alone %q", vs[i].Name, got.Text, want.Text)
		}
	}
	must(t, d.ChooseAlternatives([]turn.ID{v.Alternatives[2].Turn.ID}, false))
	kept := settled(t, d)
	if c := kept.Conversation; c.Adapter != vs[2].Adapter.Fingerprint || c.Head != v.Alternatives[2].Turn.ID || kept.Siblings[1].Of != len(vs) {
		t.Errorf("after Keep the conversation is %+v, %+v", c, kept.Siblings[1])
	}
	want := alone(t, workspace, vs[2], prompt, next)
	if got := last(ask(t, d, next)); got.Text != want.Text {
		t.Errorf("the kept one goes on with %q, alone %q", got.Text, want.Text)
	}
}

// checkJudged says that each answer is as likely for its own variant as it was
// when it was drawn, and that all are judged together.
func checkJudged(t *testing.T, d *chat.Dialogue, v chat.View, references []chat.Variant) {
	t.Helper()
	var ids []turn.ID
	for _, row := range v.Alternatives {
		ids = append(ids, row.Turn.ID)
	}
	best := make([]float64, len(ids))
	for i, reference := range references {
		judged, err := d.ScoreTurns(t.Context(), ids, reference)
		must(t, err)
		for j, p := range judged[i].LogProbs {
			if drawn := v.Alternatives[i].Drawn[j].LogProb; math.Abs(float64(p-drawn)) > 1e-3 {
				t.Errorf("%s finds token %d of its own %v likely, and drew it with %v", reference.Name, j, p, drawn)
			}
		}
		if n := len(judged[i].LogProbs); n != len(v.Alternatives[i].Turn.Tokens) {
			t.Errorf("%d tokens of %d are judged", n, len(v.Alternatives[i].Turn.Tokens))
		}
		for k := range judged {
			if p := judged[k].Perplexity(); !(p > 1) {
				t.Errorf("perplexity %v", p)
			} else if i == 0 {
				best[k] = p
			}
		}
	}
	if best[0] > best[1] || best[0] > best[2] {
		t.Errorf("for the bare model the answers have the perplexities %v, its own the first", best)
	}
	if _, err := d.ScoreTurns(t.Context(), []turn.ID{ids[0], v.Turns[0].ID}, chat.Variant{}); err == nil {
		t.Error("a prompt was judged")
	}
}

// checkDifference says that two rows agree up to where they are said to
// differ, in tokens and in text, and no further.
func checkDifference(t *testing.T, workspace *chat.Workspace, a, b chat.Alternative) {
	t.Helper()
	at := b.Differs
	if !at.Found || at.Token >= len(b.Drawn) {
		t.Fatalf("%s differs from %s: %+v", b.Variant.Name, a.Variant.Name, at)
	}
	for i := range at.Token {
		if a.Drawn[i].ID != b.Drawn[i].ID {
			t.Fatalf("%s differs at token %d, not %d", b.Variant.Name, i, at.Token)
		}
	}
	tok := workspace.Engine().Model().Tokenizer
	if a.Drawn[at.Token].ID == b.Drawn[at.Token].ID {
		t.Errorf("token %d is the same", at.Token)
	}
	if a.Text[:at.Byte] != b.Text[:at.Byte] {
		t.Errorf("before byte %d: %q and %q", at.Byte, a.Text[:at.Byte], b.Text[:at.Byte])
	}
	if word := string(tok.Bytes(b.Drawn[at.Token].ID)); !strings.HasPrefix(b.Text[at.Byte:], strings.TrimPrefix(word, " ")) && !strings.HasPrefix(b.Text[at.Byte:], word) {
		t.Errorf("%q begins with %q at byte %d", b.Text, word, at.Byte)
	}
}

// A fork of an answer that differs in the seed alone still has its preset by name.
func TestForksKeepThePreset(t *testing.T) {
	workspace, _ := demoRoom(t, memstore.New(), chat.Defaults{Preset: "calm", MaxTokens: 4})
	d := workspace.New()
	vs := []chat.Variant{d.Variant(), d.Variant(), d.Variant()}
	for i := range vs {
		vs[i].Name, vs[i].Sampling.Seed = fmt.Sprint(i), uint64(i+1)
	}
	vs[2].Sampling.Temperature = 1
	must(t, d.SendCompare("Tell me a story.", vs))
	finished(t, d)
	forks, err := workspace.ForkAlternatives(d)
	must(t, err)
	for i, want := range []string{"calm", "calm", ""} {
		if c := forks[i].View().Conversation; c.Preset != want || c.Sampling.Seed != 0 || c.Sampling.Temperature != vs[i].Sampling.Temperature {
			t.Errorf("fork %d has %q, %+v", i, c.Preset, c.Sampling)
		}
	}
}
