package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// pileGolden is testdata/pile.json; pile.py made it with the tokenizers package.
type pileGolden struct {
	Cases []struct {
		Text string
		IDs  []int32 `json:"ids"`
	}
	Corpus map[string]string
	Planes []string
	Newer  []rune
}

func TestPileIsTheTokenizersPackage(t *testing.T) {
	var g pileGolden
	if err := json.Unmarshal(readFile(t, "pile.json"), &g); err != nil {
		t.Fatal(err)
	}
	p := Pile()
	if p.Size() != 50277 || p != Pile() || p.Fingerprint() == World().Fingerprint() {
		t.Errorf("size %d", p.Size())
	}
	for _, c := range g.Cases {
		if got := p.Encode(nil, c.Text); !slices.Equal(got, c.IDs) {
			t.Errorf("%q is %v, want %v", c.Text, got, c.IDs)
		}
	}
	for name, want := range g.Corpus {
		text := string(readFile(t, "corpus/"+name))
		ids := p.Encode(nil, text)
		if digestIDs(ids) != want {
			t.Errorf("%s: its %d tokens are not the reference's", name, len(ids))
		}
	}
	i := 0
	for texts := range slices.Chunk(everyCharacter(g.Newer), 16) {
		var ids []int32
		for _, text := range texts {
			ids = p.Encode(ids, text)
		}
		if i >= len(g.Planes) || digestIDs(ids)[:8] != g.Planes[i] {
			t.Errorf("%+q...: %v...", texts[0], ids[:8])
		}
		i++
	}
}

// everyCharacter are the texts of planes() in pile.py, but for the marks that are
// newer than the tables of the tokenizers package.
func everyCharacter(but []rune) []string {
	var chars []string
	for r := rune(1); r < 0x30000; r++ {
		if utf8.ValidRune(r) && !slices.Contains(but, r) {
			chars = append(chars, string(r))
		}
	}
	var out []string
	for part := range slices.Chunk(chars, 16) {
		out = append(out, strings.Join(part, ""))
	}
	for part := range slices.Chunk(chars, 16) {
		out = append(out, strings.Join(part, "\u0301 ")+"\u0301")
	}
	return out
}

// Bytes that are no text are encoded too, and come back, but for those that no text
// has: 20B has no tokens for them.
func TestPileEncodesBytes(t *testing.T) {
	for _, text := range []string{"\xe4 a\x80", "\xe4\xb8", "ok \xf0\x9f\x98 ok"} {
		if got := string(Pile().Decode(nil, Pile().Encode(nil, text))); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	}
	if got := Pile().Encode(nil, "\xffa"); !slices.Equal(got, Pile().Encode(nil, "a")) {
		t.Errorf("a byte without a token became %v", got)
	}
	if Pile().Bytes(0) != nil || string(Pile().Bytes(50276)) != "  " || string(Pile().Bytes(535)) != "\n\n" {
		t.Error("tokens have other bytes")
	}
}

// A word of a megabyte, and a text of nothing but added tokens, take a moment.
func TestPileIsNotSlow(t *testing.T) {
	started := time.Now()
	for _, text := range []string{strings.Repeat("a", 1<<20), strings.Repeat("a  ", 1<<18), strings.Repeat("<|endoftext|", 1<<16)} {
		if got := string(Pile().Decode(nil, Pile().Encode(nil, text))); got != text {
			t.Errorf("%.20q... came back changed", text)
		}
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestParseBPERefuses(t *testing.T) {
	const words = `"pre_tokenizer":{"type":"ByteLevel"}`
	for _, c := range []struct{ file, want string }{
		{`{"model":{"type":"WordPiece"}}`, "WordPiece"},
		{`{"model":{"type":"BPE"}}`, "GPT-2"},
		{`{"model":{"type":"BPE"},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true}}`, "GPT-2"},
		{`{"model":{"type":"BPE"},"normalizer":{"type":"NFKC"},` + words + `}`, "NFKC"},
		{`{"model":{"type":"BPE","vocab":{"a":0}},` + words + `}`, "no token for the byte"},
		{`{"model":{"type":"BPE","vocab":{"a":-1}},` + words + `}`, "token -1"},
		{`{"model":{"type":"BPE","vocab":{"\u4e00":1}},` + words + `}`, "byte-level"},
		{`{"model":{"type":"BPE"},"added_tokens":[{"id":3,"content":"x","lstrip":true}],` + words + `}`, "rules"},
		{`{"model":{"type":3}}`, "JSON"},
	} {
		if _, err := Parse("x", []byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.file, err, c.want)
		}
	}
}
