package chat_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/turn"
)

// A conversation brings the states of its mixes along. One that is there
// already, under whatever name and number, is not added again, and one whose
// number another state has gets a new one.
func TestBundleOfAMix(t *testing.T) {
	ctx := context.Background()
	from := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	alpha, beta := mixing(t, from)
	d := from.workspace.New()
	must(t, d.SetMix(mixOf(1, alpha, 0.5, beta, 0.25)))
	ask(t, d, "hello")
	data := bundled(t, from.store, true, d.ID())

	to := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	known, err := from.store.State(ctx, alpha.ID)
	must(t, err)
	known.ID, known.Name = known.ID+1, "known here"
	must(t, to.store.SaveState(ctx, known))
	other, err := to.workspace.Library().Bake(ctx, to.engine, library.Recipe{Name: "beta", Text: "It has the other's name and number."}, nil)
	must(t, err)
	squatter, err := to.store.State(ctx, other.ID)
	must(t, err)
	must(t, to.store.DeleteState(ctx, other.ID))
	squatter.ID = beta.ID
	must(t, to.store.SaveState(ctx, squatter))

	if arrivals := imported(t, to.store, data); arrivals[0].Note != "" {
		t.Errorf("arrived %+v", arrivals)
	}
	c, turns, err := to.store.Load(ctx, d.ID())
	must(t, err)
	others := c.Mix.Others
	if len(others) != 2 || others[0].State != known.ID || others[0].Name != "known here" || others[1].State == beta.ID || others[1].Name != "beta (2)" {
		t.Fatalf("the mix is %+v", others)
	}
	if got := turns[1].Mix.Others; got[0].State != known.ID || got[1].State != others[1].State {
		t.Errorf("the answer's mix is %+v", got)
	}
	if states, err := to.store.States(ctx); err != nil || len(states) != 3 {
		t.Errorf("the library has %d states, %v", len(states), err)
	}
	there := to.workspace.Open(d.ID())
	settled(t, there)
	for _, d := range []*chat.Dialogue{d, there} {
		p := d.View().Conversation.Sampling
		p.Seed = 11
		must(t, d.SetSampling(p, ""))
		must(t, d.Send("and then?"))
	}
	a, b := settled(t, d), settled(t, there)
	if last(a).Text != last(b).Text || len(last(a).Tokens) == 0 || b.Err != nil {
		t.Errorf("going on gave\n%.80q here and\n%.80q there (%v)", last(a).Text, last(b).Text, b.Err)
	}
	if read := b.Turns[3].Usage.Read; read != a.Turns[3].Usage.Read {
		t.Errorf("there %d tokens were read, here %d", read, a.Turns[3].Usage.Read)
	}

	// The same file again adds nothing; without its states it is told.
	imported(t, to.store, data)
	if states, err := to.store.States(ctx); err != nil || len(states) != 3 {
		t.Errorf("twice imported, the library has %d states, %v", len(states), err)
	}
	files := unzipped(t, data)
	for name := range files {
		if strings.HasPrefix(name, "bases/") {
			delete(files, name)
		}
	}
	manifest := files["rookery.json"]
	files["rookery.json"] = manifest[:strings.Index(manifest, `"bases"`)] + `"bases": []}`
	if got := imported(t, memstore.New(), zipped(t, files, false)); got[0].Note != "2 states of its mixes are missing" {
		t.Errorf("without states: %+v", got)
	}
}

// A state that is there under its number and another name is called by that.
func TestMixOfARenamedState(t *testing.T) {
	ctx := t.Context()
	from := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	alpha, _ := mixing(t, from)
	d := from.workspace.New()
	must(t, d.SetMix(mixOf(1, alpha, 0.5)))
	ask(t, d, "hello")
	to := memstore.New()
	known, err := from.store.State(ctx, alpha.ID)
	must(t, err)
	known.Name = "renamed"
	must(t, to.SaveState(ctx, known))
	imported(t, to, bundled(t, from.store, true, d.ID()))
	c, turns, err := to.Load(ctx, d.ID())
	must(t, err)
	if want := (turn.MixMember{State: alpha.ID, Name: "renamed", Weight: 0.5}); c.Mix.Others[0] != want || turns[1].Mix.Others[0] != want {
		t.Errorf("the mixes have %+v and %+v, want %+v", c.Mix.Others, turns[1].Mix.Others, want)
	}
}

func TestHostileBundlesOfMixes(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	alpha, _ := mixing(t, r)
	d := r.workspace.New()
	must(t, d.SetMix(mixOf(1, alpha, 0.5)))
	ask(t, d, "hello")
	good := unzipped(t, bundled(t, r.store, false, d.ID()))
	base := "bases/" + alpha.ID.String() + ".rkst"
	cases := []struct {
		name, want string
		change     func(f map[string]string)
	}{
		{"a damaged state", "checksum", func(f map[string]string) { f[base] = f[base][:60] + "\x00" + f[base][61:] }},
		{"another file", "not a state of this program", func(f map[string]string) { f[base] = strings.Repeat("x", 100) }},
		{"a built-in's number", "is no id for a state", func(f map[string]string) {
			f["rookery.json"] = strings.Replace(f["rookery.json"], `"id": "`+alpha.ID.String()+`"`, `"id": "1"`, 1)
		}},
		{"another folder", "cannot be", func(f map[string]string) {
			f["rookery.json"] = strings.Replace(f["rookery.json"], base, "states/x", 1)
		}},
		{"many states", "4096 can be read", func(f map[string]string) {
			one := `{"id":"2000000","file":"` + base + `"},`
			f["rookery.json"] = strings.Replace(f["rookery.json"], `"bases": [`, `"bases": [`+strings.Repeat(one, 5000), 1)
		}},
		{"an endless name", "cannot be shown", func(f map[string]string) {
			f["conversations/"+d.ID().String()+".json"] = strings.Replace(f["conversations/"+d.ID().String()+".json"], `"name":"alpha"`, `"name":"al\u0007"`, 1)
		}},
	}
	for _, c := range cases {
		files := maps.Clone(good)
		c.change(files)
		notImported(t, c.name, zipped(t, files, true), c.want)
	}
}
