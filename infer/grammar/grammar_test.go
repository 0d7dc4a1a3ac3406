package grammar_test

import (
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rookery/infer/grammar"
	"rookery/infer/tokenizer"
)

var (
	world      = tokenizer.World()
	vocabulary = grammar.NewVocabulary(world)
)

func allows(mask []uint64, id int32) bool { return mask[id/64]>>(id%64)&1 == 1 }

// walk draws tokens that the grammar allows, long ones rarely, until the text
// ends. It fails where nothing is allowed.
func walk(t *testing.T, g *grammar.Grammar, r *rand.Rand) (string, bool) {
	t.Helper()
	m := g.Match(vocabulary, world)
	var text []byte
	for range 400 {
		mask := m.Mask()
		count := 0
		for _, word := range mask {
			count += bits.OnesCount64(word)
		}
		if count == 0 {
			t.Fatalf("nothing is allowed after %q", text)
		}
		if allows(mask, 0) && (count == 1 || r.IntN(4) == 0) {
			return string(text), true
		}
		id := nth(mask, r.IntN(count))
		// Closing is preferred, so that most walks end.
		for _, closing := range []string{`"`, `}`, `]`} {
			if id0 := world.Encode(nil, closing)[0]; r.IntN(3) == 0 && allows(mask, id0) {
				id = id0
			}
		}
		if id == 0 {
			continue
		}
		if err := m.Accept(id); err != nil {
			t.Fatalf("token %q is in the mask after %q: %v", world.Bytes(id), text, err)
		}
		text = append(text, world.Bytes(id)...)
	}
	return string(text), false
}

// nth is the n-th token of a mask.
func nth(mask []uint64, n int) int32 {
	for i, word := range mask {
		if ones := bits.OnesCount64(word); n >= ones {
			n -= ones
			continue
		}
		for ; n > 0; n-- {
			word &= word - 1
		}
		return int32(i*64 + bits.TrailingZeros64(word))
	}
	return -1
}

// checkMask compares a mask with trying every token.
func checkMask(t *testing.T, g *grammar.Grammar, text string) {
	t.Helper()
	m := g.Match(vocabulary, world)
	for _, id := range world.Encode(nil, text) {
		if err := m.Accept(id); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	mask := m.Mask()
	for id := int32(1); int(id) < world.Size(); id++ {
		if world.Bytes(id) == nil {
			continue
		}
		at := *m
		if got, want := allows(mask, id), at.Accept(id) == nil; got != want {
			t.Errorf("after %q: the mask says %v of %q, reading it %v", text, got, world.Bytes(id), want)
		}
	}
}

var schemas = map[string]string{
	"person": `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":130},
		"tags":{"type":"array","items":{"enum":["red","green",7,null,{"a":[1]}]},"maxItems":4}},"required":["name","age"],"additionalProperties":false}`,
	"optional":   `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"null"},"c":{"const":"x\"y\n<é>"}},"additionalProperties":false}`,
	"additional": `{"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"integer"}},"required":["ab"],"additionalProperties":{"type":"string"}}`,
	"map":        `{"type":"object","additionalProperties":{"type":"number"},"minProperties":1,"maxProperties":3}`,
	"tree":       `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["v","next"],"additionalProperties":false}}}`,
	"root":       `{"type":"array","items":{"$ref":"#"},"maxItems":3}`,
	"bounded":    `{"type":"array","prefixItems":[{"type":"number","minimum":-3,"exclusiveMaximum":12},{"type":"number","exclusiveMinimum":0,"maximum":1},{"type":"integer","minimum":-1234,"maximum":-56}],"items":{"type":"integer","exclusiveMinimum":99,"maximum":1001},"minItems":4,"maxItems":6}`,
	"strings":    `{"type":"array","prefixItems":[{"type":"string","minLength":2,"maxLength":4},{"type":"string","pattern":"^[a-c]+(\\\\|\"|\n)$"},{"type":"string","pattern":"b"},{"type":"string","format":"date"},{"type":"string","format":"uuid"},{"type":"string","format":"date-time"},{"type":"string","format":"ipv4"},{"type":"string","format":"email"}],"items":false,"minItems":8}`,
	"one":        `{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"number"}},"required":["kind","x"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false},{"type":"string"}]}`,
	"any":        `{}`,
	"types":      `{"type":["string","null","integer"],"maxLength":5,"minimum":3}`,
}

// Every answer that the masks allow is valid, and every mask is what trying
// each token says.
func TestJSONSchema(t *testing.T) {
	for name, text := range schemas {
		t.Run(name, func(t *testing.T) {
			g, err := grammar.JSONSchema([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			c.AssertFormat()
			if err := c.AddResource("schema.json", document); err != nil {
				t.Fatal(err)
			}
			schema := c.MustCompile("schema.json")
			r := rand.New(rand.NewPCG(1, 2))
			ended := 0
			for range 60 {
				answer, whole := walk(t, g, r)
				if !whole {
					continue
				}
				ended++
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
				if err == nil {
					err = schema.Validate(value)
				}
				if err != nil {
					t.Fatalf("%s: %v", answer, err)
				}
			}
			if ended < 20 {
				t.Errorf("%d of 60 walks ended", ended)
			}
		})
	}
}

// What the schema says is wrong is not accepted, what it says is right is.
func TestSchemaTexts(t *testing.T) {
	for _, c := range []struct {
		schema     string
		good, evil []string
	}{
		{
			schemas["person"],
			[]string{`{"name":"","age":0}`, `{"name": "é\n\u00e9", "age": 130, "tags": ["red", {"a":[1]}]}`, "{\n  \"name\": \"x\",\n  \"age\": 7\n}"},
			[]string{`{"age":0,"name":""}`, `{"name":"","age":131}`, `{"name":"","age":007}`, `{"name":"","age":1,"x":2}`, `{"name":"","age":1,}`, `{}`, `{"name":"\ud800","age":1}`},
		},
		{schemas["optional"], []string{`{}`, `{"b":null}`, `{"a":true,"c":"x\"y\n<é>"}`}, []string{`{"b":null,"a":true}`, `{,"b":null}`, `{"a":true "b":null}`}},
		{schemas["additional"], []string{`{"ab":1}`, `{"a":2,"ab":1,"c":"","abc":"x","":"y"}`}, []string{`{"a":1}`, `{"ab":1,"a":"x"}`, `{"ab":1,"c":1}`, `{"ab":1,"\u0061":"x"}`}},
		{schemas["map"], []string{`{"a":1e5}`, `{"a":1,"b":-0.5,"c":3}`}, []string{`{}`, `{"a":1,"b":1,"c":1,"d":1}`}},
		{schemas["bounded"], []string{`[11.99,0.001,-56,100]`, `[-3,1.0,-1234,1001,1000,100]`}, []string{`[12,1,-56,100]`, `[-3.1,1,-56,100]`, `[0,0,-56,100]`, `[0,1,-55,100]`, `[0,1,-56,99]`, `[0,1,-56]`}},
		{schemas["types"], []string{`"ab\u00e9de"`, `null`, `3`, `12`}, []string{`"abcdef"`, `2`, `-4`, `true`, `[]`}},
		{schemas["any"], []string{`[1,{"a":[]},"x",null,true,-1.5e+3]`}, []string{`[1,]`, `{"a"}`, `01`, `'a'`, `nul`}},
	} {
		g, err := grammar.JSONSchema([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.good {
			if err := matches(g, text); err != nil {
				t.Errorf("%s refuses %s: %v", c.schema, text, err)
			}
		}
		for _, text := range c.evil {
			if matches(g, text) == nil {
				t.Errorf("%s accepts %s", c.schema, text)
			}
		}
	}
}

// matches reads a text token by token and ends it.
func matches(g *grammar.Grammar, text string) error {
	m := g.Match(vocabulary, world)
	for _, id := range append(world.Encode(nil, text), 0) {
		if err := m.Accept(id); err != nil {
			return err
		}
	}
	return nil
}

func TestMasksAreWhatReadingSays(t *testing.T) {
	for _, c := range []struct{ schema, text string }{
		{schemas["person"], `{"name": "a b`},
		{schemas["person"], `{"name":"a","age":12`},
		{schemas["additional"], `{"ab":1, "a`},
		{schemas["tree"], `{"v":1,"next":{"v":`},
		{schemas["any"], `[{"k":["\`},
		{schemas["any"], `[[1`},
	} {
		g, err := grammar.JSONSchema([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		checkMask(t, g, c.text)
	}
	g, err := grammar.Regex(`(é|日本|[a-f]{2,5}|\d+\.\d\d)*`)
	if err != nil {
		t.Fatal(err)
	}
	checkMask(t, g, "日本ab")
	checkMask(t, g, "ab12.")
}

func TestRegex(t *testing.T) {
	for _, expression := range []string{`[a-z]+@[a-z]{2,3}\.(com|org)`, `(?i)yes|no`, `[^a-y\n]{3}`, `\p{Greek}+ \d{1,3}`, `^(a|b)*c$`, `.{0,5}`} {
		g, err := grammar.Regex(expression)
		if err != nil {
			t.Fatal(err)
		}
		whole := regexp.MustCompile(`^(?:` + expression + `)$`)
		r := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			if text, ended := walk(t, g, r); ended && !whole.MatchString(text) {
				t.Fatalf("%s does not match %q", expression, text)
			}
		}
	}
}

func TestGBNF(t *testing.T) {
	const arithmetic = `
# an expression
root   ::= (expr "=" ws term "\n")+
expr   ::= term ([-+*/] term)*
term   ::= ident | num |
           "(" ws expr ")" ws
ident  ::= [a-z] [a-z0-9_]* ws
num    ::= [0-9]{1,3} ws
ws     ::= [ \t\n]{0,2}
`
	g, err := grammar.GBNF(arithmetic)
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		"a=1\n": true, "(x1 +22)*3= y\n": true, "a=1\nb=2\n": true,
		"a=1": false, "a=1234\n": false, "(a=1\n": false, "1+=2\n": false, "é=1\n": false,
	} {
		if err := matches(g, text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	checkMask(t, g, "(x1 +2")
}

// What cannot be kept to is refused in one line that says where and why.
func TestRefusals(t *testing.T) {
	schema := func(text string) error {
		_, err := grammar.JSONSchema([]byte(text))
		return err
	}
	gbnf := func(text string) error {
		_, err := grammar.GBNF(text)
		return err
	}
	regex := func(text string) error {
		_, err := grammar.Regex(text)
		return err
	}
	for want, err := range map[string]error{
		`#/properties/a: "not"`:   schema(`{"type":"object","properties":{"a":{"not":{}}}}`),
		`"multipleOf"`:            schema(`{"type":"integer","multipleOf":3}`),
		`"uniqueItems"`:           schema(`{"type":"array","uniqueItems":true}`),
		`"oneOf": a value could`:  schema(`{"oneOf":[{"type":"string"},{"type":"string","maxLength":3}]}`),
		`the format hostname`:     schema(`{"type":"string","format":"hostname"}`),
		`#/$defs/x is not in`:     schema(`{"$ref":"#/$defs/x"}`),
		`matches no text`:         schema(`{"$ref":"#/$defs/x","$defs":{"x":{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1}}}`),
		`no number lies`:          schema(`{"type":"integer","minimum":3,"maximum":2}`),
		`too large`:               schema(`{"type":"string","minLength":100000}`),
		`nested`:                  schema(strings.Repeat(`{"anyOf":[`, 5000) + strings.Repeat(`]}`, 5000)),
		`unexpected EOF`:          schema(`{"type":`),
		`there is more`:           schema(`{} {}`),
		`"a" is there twice`:      schema(`{"type":"object","properties":{"a":{},"a":{}}}`),
		`begins with itself`:      gbnf(`root ::= root "a" | "b"`),
		`line 2`:                  gbnf("root ::= x\nx ::= [z-a]"),
		`no rule "y"`:             gbnf(`root ::= y`),
		`the grammar has no rule`: gbnf(``),
		`) is missing`:            gbnf(`root ::= ("a"`),
		`the rule root is there`:  gbnf("root ::= \"a\"\nroot ::= \"b\""),
		`not supported: name the`: regex(`a\bb`),
		`can only stand at`:       regex(`a^b`),
		`missing closing`:         regex(`(a`),
		`fewer or smaller`:        gbnf(`root ::= (("a"{1000}){1000}){1000}`),
		"nested too deeply":       gbnf("root ::= " + strings.Repeat("(", 100_000)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// The texts of a small finite grammar are exactly those that walks reach.
func TestFinite(t *testing.T) {
	g, err := grammar.GBNF(`root ::= "a" ("b" | "bc"){1,2} [x-y]? | "日"`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"日": true}
	for _, b := range []string{"b", "bc", "bb", "bbc", "bcb", "bcbc"} {
		for _, end := range []string{"", "x", "y"} {
			want["a"+b+end] = true
		}
	}
	got := map[string]bool{}
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		text, ended := walk(t, g, r)
		if !ended || !want[text] {
			t.Fatalf("%q is not in the grammar", text)
		}
		got[text] = true
	}
	if len(got) != len(want) {
		t.Errorf("%d of %d texts were reached: %v", len(got), len(want), got)
	}
}
