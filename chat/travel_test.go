package chat_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"rookery/chat/memstore"
	"rookery/chat/transfer"
	"rookery/chat/turn"
)

// What answers were made with travels: the adapter's name and fingerprint, and
// the mix; a mix that is none is refused.
func TestAdaptersAndMixesTravel(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ctx := context.Background()
	c, turns, err := r.store.Load(ctx, d.ID())
	must(t, err)
	mix := turn.Mix{Own: turn.MixMember{Name: "own", Weight: 1}, Others: []turn.MixMember{{State: 3, Name: "sad", Weight: -0.25, Mute: true}}}
	c.Adapter, c.Mix = "a fingerprint", mix
	turns[1].Adapter, turns[1].Mix = "poet × 0.5", mix
	var tree bytes.Buffer
	must(t, transfer.Export(&tree, transfer.WholeTree, c, turns))
	store := memstore.New()
	imported(t, store, tree.Bytes())
	got, back, err := store.Load(ctx, d.ID())
	must(t, err)
	if got.Adapter != c.Adapter || got.Mix.String() != mix.String() || back[1].Adapter != turns[1].Adapter || back[1].Mix.String() != mix.String() {
		t.Errorf("came back with %q, %q; %q, %q", got.Adapter, got.Mix, back[1].Adapter, back[1].Mix)
	}
	bad := strings.ReplaceAll(tree.String(), `"weight":-0.25`, `"weight":-25e9`)
	bad = strings.ReplaceAll(bad, `,"mute":true`, "")
	var p transfer.Import
	refused(t, p.Read(strings.NewReader(bad), int64(len(bad))), "must be between")
}
