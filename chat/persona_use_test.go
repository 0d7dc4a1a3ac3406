package chat_test

import (
	"reflect"
	"strings"
	"testing"

	"rookery/chat/memstore"
	"rookery/chat/persona"
	"rookery/infer/adapter"
	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// What a conversation has of a persona, a conversation with that persona has again.
func TestAPersonaIsAllThatAConversationBeginsWith(t *testing.T) {
	r := adaptedScript(t, memstore.New())
	a, b := mixing(t, r)
	d, err := r.workspace.NewFrom(a)
	must(t, err)
	must(t, d.SetSystem("You are an owl."))
	must(t, d.SetAdapter(find(t, r.workspace.Adapters(), "plume", adapter.Options{})))
	must(t, d.SetMix(mixOf(1, b, 0.5)))
	must(t, d.SetForm(grammar.Spec{Kind: grammar.KindJSON}))
	p := d.Persona("Owl")
	want := persona.Persona{
		Name: "Owl", System: "You are an owl.", State: "alpha", Adapter: "plume", Mix: "own=1,beta=0.5", Form: grammar.Spec{Kind: grammar.KindJSON},
		Sampling: sampler.Changes{}.WithRecipe(d.View().Conversation.Sampling),
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("the persona is %+v, want %+v", p, want)
	}
	again, err := r.workspace.NewAs(t.Context(), p, nil, nil)
	must(t, err)
	if got := again.Persona("Owl"); !reflect.DeepEqual(got, p) {
		t.Errorf("a conversation with it has %+v, want %+v", got, p)
	}
	for what, bad := range map[string]persona.Persona{
		"no state": {Name: "x", State: "gamma"}, "there is no preset": {Name: "x", Preset: "none"}, "no adapter": {Name: "x", Adapter: "wings"}, "mix": {Name: "x", Mix: "beta"},
	} {
		if d, err := r.workspace.NewAs(t.Context(), bad, nil, nil); err == nil || d != nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v, %v", what, d, err)
		}
	}
}
