package chat_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/transfer"
	"rookery/infer/sampler"

	"github.com/google/go-cmp/cmp"
)

// told is what an import says it did, and what is stored then.
func told(t *testing.T, data string) string {
	t.Helper()
	ctx := context.Background()
	store := memstore.New()
	var b strings.Builder
	for _, a := range imported(t, store, []byte(data)) {
		fmt.Fprintf(&b, "%s %q %d %s\n", a.Outcome, a.Title, a.Turns, a.Note)
		if a.Outcome != transfer.OutcomeNew {
			continue
		}
		c, turns, err := store.Load(ctx, a.ID)
		must(t, err)
		if c.System != "" {
			fmt.Fprintf(&b, "  system %q\n", c.System)
		}
		for _, tn := range chat.Line(turns, c.Head) {
			fmt.Fprintf(&b, "  %s %q\n", tn.Role, tn.Text)
		}
	}
	return b.String()
}

func TestImportOfOtherPrograms(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile("testdata/import/" + name)
		must(t, err)
		return string(data)
	}
	cases := []struct{ name, file, want string }{
		{"ShareGPT", read("sharegpt.json"), `new "How do rooks nest?" 4 
  system "Be brief."
  user "How do rooks nest?"
  assistant "In colonies, high up."
  user "Why?"
  assistant "To be safe."
new "两只乌鸦" 2 
  user "你好"
  assistant "你好！"
refused "conversation 3" 0 it begins with an answer
refused "conversation 4" 0 it has a message by "function_call"
refused "conversation 5" 0 it has no messages
`},
		{"OpenAI lines", read("openai.jsonl"), `new "One. Two" 2 
  system "Be kind."
  user "One. Two."
  assistant "Three.\n\nFour."
new "And?" 2 
  user "And?"
  assistant ""
refused "conversation 3" 0 it has a message of the kind "image_url"
`},
		{"one list of messages", "\ufeff" + `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, `new "a" 2 
  user "a"
  assistant "b"
`},
		{"one object", `{"conversation":[{"from":"user","value":"a"}]}`, `new "a" 1 
  user "a"
`},
		{"the same twice", `[{"messages":[{"role":"user","content":"a"}]},{"messages":[{"role":"user","content":"a"}]}]`, `new "a" 1 
  user "a"
present "a" 1 given twice
`},
	}
	for _, c := range cases {
		if got := told(t, c.file); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestImportOfExports(t *testing.T) {
	c, line := exported()
	c.Title = "Sorting in Go"
	var b bytes.Buffer
	must(t, transfer.Export(&b, transfer.JSON, c, line))
	if got := told(t, b.String()); !strings.HasPrefix(got, `new "Sorting in Go" 4`) {
		t.Errorf("the JSON export came in as %s", got)
	}
	b.Reset()
	must(t, transfer.Export(&b, transfer.WholeTree, c, line))
	store := memstore.New()
	got := imported(t, store, b.Bytes())
	if got[0].ID != c.ID || got[0].Turns != 4 {
		t.Errorf("the JSON of the tree came in as %+v", got)
	}
}

func TestRefusedFiles(t *testing.T) {
	cases := map[string]string{
		"":       "neither",
		"hello":  "neither",
		"12":     "neither",
		"[]":     "no conversation",
		"{}":     "",
		"[1]":    "conversation 1",
		"[{},{}": "unexpected EOF",
		`[{"conversations":[{}` + strings.Repeat(",{}", 1<<20) + `]}]`:                            "does not say who speaks",
		`[{"conversations":` + strings.Repeat("[", 1<<20):                                         "depth",
		`[{"conversations":{"from":"human"}}]`:                                                    "must be",
		`[{"messages":[` + strings.Repeat(`{"role":"user"},`, 1<<16) + `{"role":"user"}]}]`:       "more than 65536 messages",
		`{"format":"rookery-tree","version":9}`:                                                   "update rookery",
		`{"format":"rookery-tree","version":1}`:                                                   "no conversation",
		`{"format":"rookery-tree","version":1,"conversation":null,"turns":null}`:                  "must be",
		`{"format":"rookery-tree","version":1,"turns":[{"id":"1","role":"user","created":"now"}]`: "turn 1",
	}
	for file, want := range cases {
		var p transfer.Import
		err := p.Read(strings.NewReader(file), int64(len(file)))
		if want == "" {
			must(t, err)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", file, err, want)
		}
	}
}

// Files stay readable: this one has sampling and usage under their first names,
// and zeros that are left out today.
func TestImportOfAnOlderExport(t *testing.T) {
	data, err := os.ReadFile("testdata/import/rookery-1.json")
	must(t, err)
	store := memstore.New()
	imported(t, store, data)
	wantC, wantTurns := exported()
	c, turns, err := store.Load(t.Context(), wantC.ID)
	must(t, err)
	wantC.Tip = wantC.Head
	if diff := cmp.Diff(wantC, c); diff != "" {
		t.Errorf("the conversation:\n%s", diff)
	}
	if diff := cmp.Diff(wantTurns, turns); diff != "" {
		t.Errorf("the turns:\n%s", diff)
	}
}

// Conversations of other programs get the preset and the sampling of new ones.
func TestImportedConversationsAreLikeNewOnes(t *testing.T) {
	file := `[{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"yo"}]}]`
	for name, defaults := range map[string]chat.Defaults{
		"a preset": {Preset: "creative"},
		"sampling": {Sampling: &sampler.Params{Temperature: 0.7, TopP: 0.4}},
	} {
		r := newRoom(t, setup{defaults: defaults})
		want := r.workspace.New().View().Conversation
		got, err := r.workspace.Import(t.Context(), strings.NewReader(file), int64(len(file)))
		must(t, err)
		c, _, err := r.store.Load(t.Context(), got[0].ID)
		must(t, err)
		if c.Preset != want.Preset || !cmp.Equal(c.Sampling, want.Sampling) {
			t.Errorf("%s: imported with %q, %+v, want %q, %+v", name, c.Preset, c.Sampling, want.Preset, want.Sampling)
		}
	}
}
