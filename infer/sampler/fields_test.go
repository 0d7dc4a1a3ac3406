package sampler

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// The table has every field of Params once, and what people need of each.
func TestFieldsAreWholeAndSound(t *testing.T) {
	names, at := map[string]bool{}, map[any]bool{}
	var p Params
	for _, f := range Fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if found, ok := FindField(name); names[name] || !ok || found != f {
				t.Errorf("the name %q is taken", name)
			}
			names[name] = true
		}
		at[f.at(&p)] = true
		if n := len(f.Help); n == 0 || n > 50 || strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: %d characters of help: %q", f.Name, n, f.Help)
		}
		if f.Label == "" || !strings.HasSuffix(f.About, ".") {
			t.Errorf("%s: label %q, about %q", f.Name, f.Label, f.About)
		}
	}
	if all := reflect.TypeFor[Params]().NumField(); len(at) != all || len(Fields) != all {
		t.Errorf("%d fields for the %d of Params", len(at), all)
	}
	if err := Neutral().Validate(); err != nil {
		t.Error(err)
	}
}

// At zero a parameter does nothing, so that records from before it was there
// are still right. Temperature, top_p and mode were there from the beginning.
func TestZeroIsOff(t *testing.T) {
	for _, f := range Fields {
		if zero := f.Off == 0 || f.Idle != nil; zero == (f.Name == "temperature" || f.Name == "top_p" || f.Name == "mode") {
			t.Errorf("%s is off at %v", f.Name, f.Off)
		}
	}
}

// Params come back from JSON and from the text of a command.
func TestParamsSurviveJSONAndText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := randomParams(rng, 100)
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back, parsed Params
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(p, back) {
			t.Fatalf("%+v became %+v, %v: %s", p, back, err, data)
		}
		changes := Changes{}
		if err := json.Unmarshal(data, &changes); err != nil {
			t.Fatal(err)
		}
		delete(changes, "seed") // decoded as a float64, which is not exact
		if over, err := changes.Over(Params{Seed: p.Seed}); err != nil || !reflect.DeepEqual(p, over) {
			t.Fatalf("%+v became %+v, %v", p, over, err)
		}
		for _, f := range Fields {
			if f.Kind() == Tokens {
				parsed.Ban = p.Ban
			} else if err := f.Parse(&parsed, f.Format(p)); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(p, parsed) {
			t.Fatalf("%+v is parsed as %+v", p, parsed)
		}
	}
	p := Params{Temperature: float32(math.NaN())}
	if data, err := json.Marshal(p); err == nil {
		t.Errorf("written %s", data)
	}
}

func TestJSONHasAliases(t *testing.T) {
	var p Params
	text := `{"temperature": 0.5, "presence_penalty": 1, "penalty_decay": 0.5, "mode": "rapid", "model": "x", "seed": 18446744073709551615}`
	want := Params{Mode: ModeRapid, Temperature: 0.5, Presence: 1, Decay: 0.5, Seed: math.MaxUint64}
	if err := json.Unmarshal([]byte(text), &p); err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("read %+v, %v", p, err)
	}
	for _, wrong := range []string{`{"top_k": 1.5}`, `{"mode": "x"}`, `{"seed": -1}`, `{"top_p": "0.5"}`, `{"ban": 3}`, `[]`} {
		if err := json.Unmarshal([]byte(wrong), &p); err == nil {
			t.Errorf("%s was read as %+v", wrong, p)
		}
	}
}

func TestRecipe(t *testing.T) {
	p := Params{Temperature: 0, TopP: 1, Decay: 0.9, Seed: 4, Ban: []int32{3}}
	if got, err := p.MarshalRecipe(); err != nil || string(got) != `{"temperature":0,"top_p":1,"mode":"rwkv"}` {
		t.Errorf("the recipe is %s, %v", got, err)
	}
	p.Frequency = 0.5
	if got, err := p.MarshalRecipe(); err != nil || string(got) != `{"temperature":0,"top_p":1,"frequency":0.5,"decay":0.9,"mode":"rwkv"}` {
		t.Errorf("the recipe is %s, %v", got, err)
	}
	q := Params{Seed: 9, Ban: []int32{1}}.WithRecipe(p)
	if !SameRecipe(p, q) || q.Seed != 9 || q.Ban[0] != 1 || SameRecipe(q, Params{}) {
		t.Errorf("with the recipe of another: %+v", q)
	}
}

func TestErrorsOfFields(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"temperature", "-1", "temperature must be between 0 and 1000, not -1"},
		{"temperature", "hot", `"hot" is not a number`},
		{"top_p", "nan", "top_p must be a number, not NaN"},
		{"top_k", "-1", "top_k must be 0 or more, not -1"},
		{"top_k", "1.5", `"1.5" is not a whole number`},
		{"presence", "inf", "presence penalty must be a number"},
		{"seed", "-3", `"-3" is not a whole number from 0 up`},
		{"mode", "x", `"x" is not one of rwkv, pip, rapid`},
	} {
		f, _ := FindField(c.name)
		var p Params
		if err := f.Parse(&p, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}
