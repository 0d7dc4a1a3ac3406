package grammar_test

import (
	"bytes"
	"strings"
	"testing"

	"rookery/infer/grammar"
	"rookery/infer/tokenizer"
)

func BenchmarkMask(b *testing.B) {
	for _, name := range []string{"any", "person"} {
		text := map[string]string{
			"any":    `{"name": "A longer text with several words, and so on", "list": [1, 2.5, {"k": null}], "more": "words"}`,
			"person": `{"name": "A longer text with several words, and so on", "age": 12, "tags": ["red", "green"]}`,
		}[name]
		g, err := grammar.JSONSchema([]byte(schemas[name]))
		if err != nil {
			b.Fatal(err)
		}
		ids := world.Encode(nil, text)
		read := func() {
			m := g.Match(vocabulary, world)
			for _, id := range ids {
				m.Mask()
				if err := m.Accept(id); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				fresh, err := grammar.JSONSchema([]byte(schemas[name]))
				if err != nil {
					b.Fatal(err)
				}
				g = fresh
				read()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/token")
		})
		b.Run(name+"/again", func(b *testing.B) {
			for b.Loop() {
				read()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/token")
		})
	}
}

func FuzzGrammars(f *testing.F) {
	for _, s := range schemas {
		f.Add(s)
	}
	f.Add(`root ::= "a" | [b-c]{1,3} root`)
	f.Add(`(a|b)*c{1,3}\d`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, compile := range []func(string) (*grammar.Grammar, error){
			func(s string) (*grammar.Grammar, error) { return grammar.JSONSchema([]byte(s)) }, grammar.GBNF, grammar.Regex,
		} {
			g, err := compile(text)
			if err != nil {
				if bytes.ContainsRune([]byte(err.Error()), '\n') {
					t.Errorf("%q: an error of several lines: %v", text, err)
				}
				continue
			}
			m := g.Match(bytesOnly, tokenizer.NewBytes())
			for range 20 { // there is always something that may come next
				mask := m.Mask()
				next := int32(-1)
				for i := range int32(256) {
					if mask[i/64]>>(i%64)&1 == 1 && i > 0 {
						next = i
					}
				}
				if next < 0 {
					if mask[0]&1 == 0 && !m.Complete() && !strings.Contains(text, "\\x00") && !strings.ContainsRune(text, 0) {
						t.Skipf("%q ends in nothing but token 0", text)
					}
					break
				}
				if err := m.Accept(next); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

var bytesOnly = grammar.NewVocabulary(tokenizer.NewBytes())
