package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// byteLines are the lines of the 256 single bytes, with ids from 1, and extra.
func byteLines(extra ...string) string {
	var b strings.Builder
	for c := range 256 {
		fmt.Fprintf(&b, "%d b'\\x%02x' 1\n", c+1, c)
	}
	for _, line := range extra {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func TestParseFormsOfWorld(t *testing.T) {
	lf, err := worldText()
	if err != nil {
		t.Fatal(err)
	}
	w := World()
	var literal bytes.Buffer // every token as a byte literal
	object := map[string]any{}
	for id := 1; id < w.Size(); id++ {
		b := w.Bytes(int32(id))
		literal.WriteString(fmt.Sprint(id) + " b'")
		for _, c := range b {
			fmt.Fprintf(&literal, "\\x%02x", c)
		}
		fmt.Fprintf(&literal, "' %d\n", len(b))
		if utf8.Valid(b) {
			object[fmt.Sprint(id)] = string(b)
			continue
		}
		values := make([]int, len(b))
		for i, c := range b {
			values[i] = int(c)
		}
		object[fmt.Sprint(id)] = values
	}
	asJSON, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"crlf", bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))},
		{"byte literals", literal.Bytes()},
		{"json", asJSON},
		{"no last line end", bytes.TrimSuffix(lf, []byte("\n"))},
	} {
		tok, err := Parse(c.name, c.data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if tok.Fingerprint() != w.Fingerprint() || tok.Name() != c.name || tok.Size() != w.Size() {
			t.Errorf("%s: %s with %d ids is not World", c.name, tok.Name(), tok.Size())
		}
	}
}

func TestParseLiterals(t *testing.T) {
	for _, c := range []struct {
		literal, want string
	}{
		{`'ab'`, "ab"},
		{`"it's"`, "it's"},
		{`'\'\''`, "''"},
		{`'\\n'`, `\n`},
		{`'\n\t\r\\'`, "\n\t\r\\"},
		{`'\xa0x'`, "\u00a0x"}, // a code point in text
		{`b'\xa0x'`, "\xa0x"},  // a byte in bytes
		{`'\u3000'`, "\u3000"},
		{`'\U0001f600'`, "😀"},
		{`'a b  c'`, "a b  c"},
		{`'é1'`, "é1"},
	} {
		tok, err := Parse("x", []byte(byteLines(fmt.Sprintf("300 %s %d", c.literal, len(c.want)))))
		if err != nil {
			t.Errorf("%s: %v", c.literal, err)
			continue
		}
		if got := tok.Bytes(300); string(got) != c.want {
			t.Errorf("%s is %q, want %q", c.literal, got, c.want)
		}
		if got := tok.Encode(nil, c.want); !slices.Equal(got, []int32{300}) {
			t.Errorf("%q encodes to %v", c.want, got)
		}
	}
}

func TestParseSparseIds(t *testing.T) {
	tok, err := Parse("x", []byte("900 'abc' 3\n0 '<|endoftext|>' 13\n"+byteLines()))
	if err != nil {
		t.Fatal(err)
	}
	if tok.Size() != 901 || tok.Bytes(0) != nil || tok.Bytes(500) != nil {
		t.Errorf("size %d, id 0 %q, id 500 %q", tok.Size(), tok.Bytes(0), tok.Bytes(500))
	}
	if got := tok.Encode(nil, "ab<abc"); !slices.Equal(got, []int32{'a' + 1, 'b' + 1, '<' + 1, 900}) {
		t.Errorf("ids %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("a", maxTokenBytes+1)
	for _, c := range []struct {
		name, data, want string
	}{
		{"empty", "", "no tokens"},
		{"prose", "Hello there, friend\n", "World vocabulary file?"},
		{"one word", "Hello\n", "World vocabulary file?"},
		{"a byte missing", strings.Replace(byteLines(), "66 b'\\x41' 1\n", "", 1), "255 of the 256"},
		{"wrong length", byteLines("300 'ab' 3"), "line 257: token 300 has 2 bytes, but the line says 3"},
		{"id twice", byteLines("12 'ab' 2"), "token 12 occurs twice"},
		{"text twice", byteLines("300 'ab' 2", "301 b'ab' 2"), "tokens 300 and 301 are both"},
		{"empty token", byteLines("300 '' 0"), "token 300 is empty"},
		{"huge id", byteLines("99999999 'ab' 2"), "ids are 0 to"},
		{"negative id", byteLines("-1 'ab' 2"), "ids are 0 to"},
		{"long token", byteLines(fmt.Sprintf("300 '%s' %d", long, len(long))), "more than the"},
		{"open quote", byteLines("300 'ab 2"), "not of the form"},
		{"inner quote", byteLines("300 'a'b' 3"), "not escaped"},
		{"code", byteLines("300 __import__('os') 2"), "not of the form"},
		{"escape", byteLines(`300 '\N{DASH}' 3`), "unknown escape"},
		{"short escape", byteLines(`300 '\x4' 1`), "unknown escape"},
		{"bad escape", byteLines(`300 '\xzz' 1`), "bad escape"},
		{"surrogate", byteLines(`300 '\ud800' 3`), "not a character"},
		{"beyond unicode", byteLines(`300 '\U00110000' 4`), "not a character"},
		{"backslash", byteLines(`300 'a\' 2`), "backslash"},
		{"not ascii", byteLines(`300 b'é' 2`), "not ASCII"},
		{"not utf-8", byteLines("300 '\xff' 1"), "not UTF-8"},
		{"json array", `{"1": [300]}`, "not a byte"},
		{"json fraction", `{"1": [1.5]}`, "not a byte"},
		{"json nested", `{"1": {"a": 1}}`, "not a string"},
		{"json number", `{"1": 1}`, "not a string"},
		{"json key", `{"a": "b"}`, "not a token id"},
		{"json cut", `{"1": "b"`, "complete?"},
		{"json cut in array", `{"1": [1`, "reading JSON"},
		{"json and more", `{"1": "b"} {}`, "more after"},
		{"json bytes", "{\"1\": \"\xff\"}", "not UTF-8"},
		{"json empty", `{}`, "no tokens"},
	} {
		_, err := Parse("file.txt", []byte(c.data))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		msg := err.Error()
		if !strings.HasPrefix(msg, "vocabulary file.txt: ") || !strings.Contains(msg, c.want) || strings.Contains(msg, "\n") {
			t.Errorf("%s: %q, want one line with %q", c.name, msg, c.want)
		}
	}
}

// Tokens that share no beginnings need a node for every byte: far more nodes
// than a vocabulary has.
func TestParseRefusesTooManyNodes(t *testing.T) {
	var b strings.Builder
	b.WriteString(byteLines())
	x := uint64(1)
	token := make([]byte, 500)
	for id := 300; id < 300+3*maxUnits/len(token)/2; id++ {
		for i := range token {
			x = x*6364136223846793005 + 1442695040888963407
			token[i] = 'a' + byte(x>>59)%26
		}
		fmt.Fprintf(&b, "%d '%s' %d\n", id, token, len(token))
	}
	if _, err := Parse("x", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("err = %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(byteLines("300 'ab' 2", `301 '\u3000' 3`, "302 \"it's\" 4")))
	f.Add([]byte("1 '\\x00' 1\r\n2 b'\\xff' 1\r\n"))
	f.Add([]byte(`{"1": "a", "2": [255, 0]}`))
	f.Add([]byte("{"))
	f.Add([]byte("1 ' 1"))
	base := byteLines()
	f.Add([]byte(`{"added_tokens":[{"id":3,"content":"  ","normalized":true}],"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":1,"aa":2},"merges":["a a",["a","aa"]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, in := range [][]byte{data, append([]byte(base), data...)} {
			tok, err := Parse("fuzz", in)
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Fatalf("an error of several lines: %q", err)
				}
				continue
			}
			if got := tok.Decode(nil, tok.Encode(nil, string(in))); !bytes.Equal(got, in) {
				t.Fatalf("%q came back as %q", in, got)
			}
		}
	})
}
