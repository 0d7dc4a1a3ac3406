package sessions

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/statefile"
)

// fixtureState is the state of the i-th turn of a fixture.
func fixtureState(i int) []float32 {
	state := make([]float32, 128)
	for k := range state {
		state[k] = float32(i*k) / 3
	}
	return state
}

// TestMakeFixture writes a database for testdata; testdata/README.md says how.
func TestMakeFixture(t *testing.T) {
	dir := os.Getenv("ROOKERY_FIXTURE")
	if dir == "" {
		t.Skip("ROOKERY_FIXTURE names no folder")
	}
	s := open(t, dir)
	fillFixture(t, s)
	must(t, s.Close())
	s.lock = nil
}

// fixtureBook is the state of the library that a conversation of a fixture
// begins from.
const fixtureBook turn.ID = 5000

var fixtureTime = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func fixtureMix() turn.Mix {
	return turn.Mix{Own: turn.MixMember{Name: "own", Weight: 1}, Others: []turn.MixMember{{State: fixtureBook, Name: "book", Weight: -0.5}}}
}

func fixtureHistory() turn.History {
	return turn.History{Model: "m", Base: fixtureBook, Kind: statefile.Baked, Runs: []turn.Run{{Tokens: 1}, {Tokens: 7, Adapter: "fingerprint", Name: "poet"}}}
}

// fillLibrary adds what there is beside conversations.
func fillLibrary(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	shape := rwkv.Shape{Version: rwkv.V7, Layers: 1, Embed: 8, Heads: 1, HeadSize: 8}
	must(t, s.SaveState(ctx, turn.State{ID: fixtureBook, State: statefile.State{
		Name: "book", Kind: statefile.Baked, Source: "book.txt", Model: "m", ModelName: "rookery-demo", Shape: shape,
		Adapter: "fingerprint", AdapterName: "poet", Tokens: []int32{7, 8, 9}, Created: fixtureTime,
		Snapshot: &infer.Snapshot{Model: "m", Tokenizer: "t", Adapter: "fingerprint", Position: 3, State: fixtureState(7)},
	}}))
	must(t, s.SaveAdapter(ctx, turn.Adapter{Fingerprint: "fingerprint", Name: "poet", Path: "/models/poet.pth", Options: adapter.Options{Strength: 0.5}, Used: fixtureTime}))
	must(t, s.SaveMix(ctx, turn.NamedMix{Name: "dark", Mix: fixtureMix(), Used: fixtureTime}))
	must(t, s.AddVote(ctx, turn.Vote{
		Prompt: compare.HashPrompt("a prompt"), Created: fixtureTime, Winner: 1,
		Variants: []turn.Description{`{"model":"m"}`, `{"model":"m","adapter":"poet"}`},
	}))
}

func fillFixture(t *testing.T, s *Store) {
	t.Helper()
	ctx, at := t.Context(), fixtureTime
	for n := range turn.ID(2) {
		c := turn.Conversation{
			ID: 1000 * (n + 1), Title: fmt.Sprintf("conversation %d 乌鸦", n+1), Think: turn.ThinkOff,
			Sampling: sampler.Params{Temperature: 1, TopP: 0.5, Decay: 0.996, Seed: 7},
			Created:  at, Updated: at.Add(time.Duration(n) * time.Hour),
		}
		if n == 1 {
			c.Base, c.Adapter, c.Mix = fixtureBook, "fingerprint", fixtureMix()
		}
		for i := 1; i <= 6; i++ {
			tn := turn.Turn{
				ID: c.ID + turn.ID(i), Role: turn.Role(2 - i%2), Text: fmt.Sprintf("turn %d of the rooks' nest 高树", i),
				Tokens: []int32{int32(i), 2, 3}, Sampling: c.Sampling, Model: "m", ModelName: "rookery-demo", Created: at,
			}
			if tn.Base = "book"; n == 0 {
				tn.Base = ""
			}
			if n == 1 && tn.Role == turn.RoleAssistant {
				tn.Adapter, tn.AdapterID, tn.Mix = "poet", "fingerprint", c.Mix
				tn.History = fixtureHistory()
			}
			switch i {
			case 1:
			case 6:
				tn.Parent = c.ID + 3
			default:
				tn.Parent = tn.ID - 1
			}
			c.Head = tn.ID
			must(t, s.CommitTurn(ctx, c, tn, &infer.Snapshot{
				Model: "m", Tokenizer: "t", Adapter: tn.AdapterID, Position: 3 * i, State: fixtureState(i), Logits: []float32{1, 2},
			}))
		}
	}
	fillLibrary(t, s)
	must(t, s.BeginJournal(ctx, 2000, turn.Turn{
		Base: "book", Adapter: "poet", AdapterID: "fingerprint", Mix: fixtureMix(), Edited: true, History: fixtureHistory(),
		ID: 2007, Parent: 2005, Role: turn.RoleAssistant, Sampling: sampler.Params{TopP: 1}, Model: "m", ModelName: "rookery-demo", Created: at,
	}))
	must(t, s.AppendJournal(ctx, 2007, []int32{5, 6}, "half an answer"))
	must(t, s.AddHistory(ctx, "a prompt"))
	must(t, s.SaveDraft(ctx, 1000, turn.Draft{Text: "not sent"}))
	must(t, s.SaveLayout(ctx, turn.Layout{Open: []turn.ID{2000, 1000}, Active: 1}))
}

// unpack puts a fixture into a new data directory.
func unpack(t *testing.T, name string) (dir string) {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer func() { check(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(z)
	must(t, err)
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, File), data, 0o600))
	return dir
}
