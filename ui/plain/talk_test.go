package plain

import (
	"strings"
	"testing"

	"rookery/ui/kit"
	"rookery/ui/library"
	"rookery/ui/states"
	"rookery/ui/tree"
	"rookery/ui/uitest"
)

// A talk is a console over a real workspace, in a bubble, and what it has said.
type talk struct {
	*console
	t    *testing.T
	w    *uitest.World
	said strings.Builder
}

// begin begins a new conversation, or goes on with one that is open.
func begin(t *testing.T, w *uitest.World, o Options) *talk {
	t.Helper()
	k := &talk{t: t, w: w}
	if o.Workspace = w.Workspace; o.Dialogue == nil {
		o.Dialogue = w.Workspace.New()
	}
	if o.Out == nil {
		o.Out = &k.said
	}
	o.Features = []kit.Feature{states.Feature(), library.Feature(), tree.Feature()}
	k.console = newConsole(t.Context(), o)
	return k
}

// talk gives lines until the input ends and all answers have been told.
func (k *talk) talk(lines ...string) {
	k.t.Helper()
	k.ended = false
	uitest.Must(k.t, k.loop(readLines(k.t.Context(), strings.NewReader(strings.Join(lines, "\n"))), nil))
}

// hears fails unless the texts were said.
func (k *talk) hears(texts ...string) {
	k.t.Helper()
	for _, text := range texts {
		if !strings.Contains(k.said.String(), text) {
			k.t.Errorf("%q was not said:\n%s", text, k.said.String())
		}
	}
}

// hearsNot fails if one of the texts was said.
func (k *talk) hearsNot(texts ...string) {
	k.t.Helper()
	for _, text := range texts {
		if strings.Contains(k.said.String(), text) {
			k.t.Errorf("%q was said:\n%s", text, k.said.String())
		}
	}
}
