package compare_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
	"rookery/infer/statefile"
	"rookery/ui"
	"rookery/ui/kit"
	"rookery/ui/uitest"
)

// A stage is a program whose conversation can be answered in many ways: with the
// states "animals", "dialogue" and "sad" and the adapters of scripted.
type stage struct {
	*uitest.Terminal
	t     *testing.T
	w     *uitest.World
	host  kit.Host
	store *votingStore
}

// A votingStore has votes from before, and states that cannot be read.
type votingStore struct {
	turn.Store
	before []turn.Vote
	torn   turn.ID
	gate   chan struct{} // the library is read when it is closed; nil: at once
}

func (s *votingStore) States(ctx context.Context) ([]turn.State, error) {
	if s.gate != nil {
		<-s.gate
	}
	return s.Store.States(ctx)
}

func (s *votingStore) Votes(ctx context.Context) ([]turn.Vote, error) {
	votes, err := s.Store.Votes(ctx)
	return append(s.before, votes...), err
}

func (s *votingStore) State(ctx context.Context, id turn.ID) (turn.State, error) {
	if id == s.torn && id != 0 {
		return turn.State{}, errors.New("the state of this variant could not be read")
	}
	return s.Store.State(ctx, id)
}

// A script says how a stage differs from the usual one.
type script struct {
	width, height int // 100 and 30 if not given
	tokens        int // of an answer; 16 if not given
	step          time.Duration
	empty         bool   // nothing was said yet
	says          string // what all variants say; they say different things if not given
	seed          uint64 // of the conversation
	settings      ui.Settings
	models        func(context.Context) ([]ui.ModelFile, error)
	loads         chat.ModelOpener
}

// raise opens a stage.
func raise(t *testing.T, s script) *stage {
	t.Helper()
	if s.width == 0 {
		s.width, s.height = 100, 30
	}
	if s.tokens == 0 {
		s.tokens = 16
	}
	var stops []string // those of the model
	sampling := sampler.Params{Temperature: 1, TopP: 1, Decay: 1, Seed: s.seed}
	if s.says == "" {
		sampling.Ban, stops = []int32{0}, []string{"@@@@"} // it goes on to the longest length
	}
	g := &stage{t: t}
	g.w = uitest.New(t, uitest.Options{
		Babble: s.says == "", Answers: []scripted.Answer{{Prompt: "bird", Text: s.says + "\n\n"}}, Adapted: true, Step: s.step, Setup: saveStates(t),
		Wrap: func(store turn.Store) turn.Store {
			g.store = &votingStore{Store: store}
			return g.store
		},
		Defaults: chat.Defaults{Sampling: &sampling, MaxTokens: s.tokens, Stops: stops},
	})
	if s.loads != nil {
		g.w.Workspace.UseModels(s.loads)
	}
	if !s.empty {
		g.w.Converse("Rooks", "Which bird is it?")
	}
	s.settings.Mouse = true
	g.Terminal = uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: g.w.Workspace, Settings: s.settings, Models: s.models}), s.width, s.height)
	g.host = g.Model().(kit.Host)
	return g
}

func saveStates(t *testing.T) func(*memstore.Store) {
	return func(store *memstore.Store) {
		m := scripted.Model()
		for i, name := range []string{"animals", "dialogue", "sad"} {
			s := turn.State{ID: turn.ID(2001 + i), State: statefile.State{
				Name: name, Kind: statefile.Baked, ModelName: m.Name, Model: m.Fingerprint, Shape: m.Shape,
			}}
			s.Snapshot = &infer.Snapshot{State: make([]float32, m.Shape.StateLen())}
			s.Snapshot.State[0] = float32(i + 1)
			uitest.Must(t, store.SaveState(t.Context(), s))
		}
	}
}

func (g *stage) dialogue() *chat.Dialogue { return g.host.Tab().Dialogue() }

func (g *stage) alternatives() []chat.Alternative { return g.dialogue().View().Alternatives }

// asked is what is compared: the names of the variants.
func (g *stage) asked() string {
	var names []string
	for _, r := range g.alternatives() {
		names = append(names, r.Variant.Name)
	}
	return strings.Join(names, "|")
}

// asks fails unless variants of some names answer.
func (g *stage) asks(want string) {
	g.t.Helper()
	if got := g.asked(); got != want {
		g.t.Errorf("the variants are %q, want %q:\n%s", got, want, g.Screen())
	}
}

// prompt is the last one that was said.
func (g *stage) prompt() string {
	turns := g.dialogue().View().Turns
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == turn.RoleUser {
			return turns[i].Text
		}
	}
	return ""
}

// finish waits until all answers have ended and were scored.
func (g *stage) finish() {
	g.t.Helper()
	for end := time.Now().Add(time.Minute); g.dialogue().View().Live != nil && time.Now().Before(end); {
		g.Pass(5 * time.Millisecond)
	}
	g.Pass(200 * time.Millisecond)
	if g.dialogue().View().Live != nil {
		g.t.Fatalf("an answer does not end:\n%s", g.Screen())
	}
}

// compareStates compares the bare model with three states.
func (g *stage) compareStates() {
	g.t.Helper()
	g.Press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
	g.asks("bare|animals|dialogue|sad")
}

// compared compares the bare model with three states until all have ended.
func compared(t *testing.T, s script) *stage {
	t.Helper()
	g := raise(t, s)
	g.compareStates()
	g.finish()
	return g
}

// versions is how many answers the last prompt has.
func (g *stage) versions() int {
	v := g.dialogue().View()
	if len(v.Siblings) == 0 {
		return 0
	}
	return v.Siblings[len(v.Siblings)-1].Of
}
