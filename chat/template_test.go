package chat_test

import (
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/infer/tokenizer"
)

// The tokens of a World prompt are those of the public package.
func TestWorldTokens(t *testing.T) {
	world := tokenizer.World()
	m := scripted.ModelWith(g1, world, world.Size())
	req, _ := request(t, m, chat.Defaults{}, "hi")
	if want := []int32{24281, 59, 4571, 261, 5585, 41693, 59}; !slices.Equal(req.Tokens, want) {
		t.Errorf("tokens %v, want %v", req.Tokens, want)
	}
	// "。\n\n" is other tokens than "。" and "\n\n"; the separator is one by itself.
	r := newRoom(t, setup{model: m, answers: []scripted.Answer{{Prompt: "User: 你好", Text: " 好。"}}})
	d := r.workspace.New()
	ask(t, d, "你好")
	v := ask(t, d, "你好")
	if got := v.Turns[2].Tokens[0]; got != 261 {
		t.Errorf("the second prompt begins with token %d, want 261", got)
	}
	r.checkStates(v, 4)
}

func TestPromptText(t *testing.T) {
	for _, c := range []struct {
		name, model, system, text string
		blankLines                bool
		want                      string
	}{
		{name: "plain", text: "hi", want: "User: hi\n\nAssistant:"},
		{name: "space around", text: "\n\n  hi \n\n", want: "User: hi\n\nAssistant:"},
		{name: "line ends", text: "a\r\nb\rc", want: "User: a\nb\nc\n\nAssistant:"},
		{name: "blank lines", text: "a\n\n\nb\n \t\n\n  c", want: "User: a\nb\n  c\n\nAssistant:"},
		{name: "code", text: "fix:\n```\nfunc f() {\n\tx()\n\n\ty()\n}\n```\n", want: "User: fix:\n```\nfunc f() {\n\tx()\n\ty()\n}\n```\n\nAssistant:"},
		{name: "first line's indentation", text: "    a\n  b", want: "User:     a\n  b\n\nAssistant:"},
		{name: "kept blank lines", text: "\na\r\n\r\nb\n", blankLines: true, want: "User: a\n\nb\n\nAssistant:"},
		{name: "no turn inside", text: "a\n\nUser: b", want: "User: a\nUser: b\n\nAssistant:"},
		{name: "system", system: "Be kind.\n\nBe brief.", text: "hi", want: "System: Be kind.\nBe brief.\n\nUser: hi\n\nAssistant:"},
		{name: "World", model: "world", text: "hi", want: "User: hi\n\nAssistant: Hi. I am your assistant and I will provide expert full response in full details. Please feel free to ask any question and I will always answer it.\n\nUser: hi\n\nAssistant:"},
		{name: "World with system", model: "world", system: "s", text: "hi", want: "System: s\n\nUser: hi\n\nAssistant:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.model == "" {
				c.model = "rookery-demo"
			}
			m := modelNamed(c.model)
			req, _ := request(t, m, chat.Defaults{System: c.system, KeepBlankLines: c.blankLines}, c.text)
			if got := string(m.Tokenizer.Decode(nil, req.Tokens)); got != c.want {
				t.Errorf("prompt %q, want %q", got, c.want)
			}
		})
	}
}

// World models end their turns with a blank line and never with token 0.
func TestWorldBansTheEndOfText(t *testing.T) {
	req, _ := request(t, modelNamed("world"), chat.Defaults{}, "hi")
	if !slices.Contains(req.Sampling.Ban, 0) {
		t.Errorf("banned: %v", req.Sampling.Ban)
	}
	req, _ = request(t, modelNamed(g1), chat.Defaults{}, "hi")
	if slices.Contains(req.Sampling.Ban, 0) {
		t.Errorf("banned: %v", req.Sampling.Ban)
	}
}

func TestTitles(t *testing.T) {
	for text, want := range map[string]string{
		"hi":              "hi",
		"  two\n\nlines ": "two lines",
		"Tell me a story about a brave cat who lost its hat": "Tell me a story about a brave cat who…",
		strings.Repeat("x", 100):                             strings.Repeat("x", 39) + "…",
		strings.Repeat("你好", 30):                             strings.Repeat("你好", 9) + "你…",
		"\x1b[31mred\x1b[0m":                                 "red",
		strings.Repeat("é ", 1_000_000):                      strings.TrimRight(strings.Repeat("é ", 20), " ") + "…",
	} {
		r := newRoom(t, setup{babble: true, defaults: chat.Defaults{MaxTokens: 1}})
		d := r.workspace.New()
		if len(text) < 1000 {
			must(t, d.Send(text))
		} else {
			r.gate.shut()
			must(t, d.Send(text))
			d.Stop()
		}
		if got := d.View().Conversation.Title; got != want {
			t.Errorf("the title of %.60q is %q, want %q", text, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	var before turn.ID
	for range 10_000 {
		id := turn.NewID()
		if id <= before {
			t.Fatalf("%d after %d", id, before)
		}
		before = id
	}
}

// request is the request for an answer to one prompt.
func request(t *testing.T, m *infer.Model, d chat.Defaults, text string) (infer.Request, string) {
	t.Helper()
	r, header, err := d.Request(m, prompt.QuestionOf(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, header
}
