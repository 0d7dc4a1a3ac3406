package plain

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
	"rookery/infer/statefile"
	"rookery/ui/kit"
	"rookery/ui/uitest"
)

// newComparableWorld is a world with the states "animals", "dialogue" and "sad", each of
// which makes the model say something else.
func newComparableWorld(t *testing.T) *uitest.World {
	t.Helper()
	sampling := sampler.Params{Temperature: 1, TopP: 1, Decay: 1, Ban: []int32{0}}
	return uitest.New(t, uitest.Options{
		Babble: true, Adapted: true, Defaults: chat.Defaults{Sampling: &sampling, MaxTokens: 16, Stops: []string{"@@@@"}},
		Setup: func(store *memstore.Store) {
			m := scripted.Model()
			for i, name := range []string{"animals", "dialogue", "sad"} {
				s := turn.State{ID: turn.ID(2001 + i), State: statefile.State{
					Name: name, Kind: statefile.Baked, ModelName: m.Name, Model: m.Fingerprint, Shape: m.Shape,
				}}
				s.Snapshot = &infer.Snapshot{State: make([]float32, m.Shape.StateLen())}
				s.Snapshot.State[0] = float32(i + 1)
				uitest.Must(t, store.SaveState(t.Context(), s))
			}
		},
	})
}

func TestCompareStates(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, newComparableWorld(t), Options{})
		k.talk("/compare everything", "/compare states And then?")
		k.hears("Error: write /compare models, /compare states", "4 answers are being made.\n",
			"Answer 1 of 4, bare, 16 tokens", "Answer 2 of 4, animals, 16 tokens", ", perplexity ", "/votes and a number says which is best")
		if v := k.d.View(); len(v.Turns) != 2 || v.Turns[0].Text != "And then?" {
			t.Errorf("the turns are %+v", v.Turns)
		}
	})
}

// Blind answers are read out without their names, which the vote brings; it is
// for the answer that had the number.
func TestCompareBlind(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, newComparableWorld(t), Options{})
		k.talk("/compare blind states Which bird?")
		k.hearsNot("animals", "dialogue", "sad", "bare", "tokens", "perplexity")
		heard := regexp.MustCompile(`(?s)Answer 2 of 4: (.*?)\nAnswer 3 of 4: `).FindStringSubmatch(k.said.String())
		if heard == nil {
			t.Fatalf("the answers were not read out:\n%s", k.said.String())
		}
		name := ""
		for _, r := range k.d.View().Alternatives {
			if kit.Clean(textOf(r)) == heard[1] {
				name = r.Variant.Name
			}
		}
		if name == "" {
			t.Fatalf("nobody gave the answer %q", heard[1])
		}
		k.said.Reset()
		k.talk("/votes 2")
		k.hears("You prefer "+name+".\n", "Answer 2 is of "+name+".", "The conversation goes on from it;")
		votes, err := k.workspace.Votes(t.Context())
		uitest.Must(t, err)
		if len(votes) != 1 || votes[0].Winner < 0 {
			t.Fatalf("the votes are %+v", votes)
		}
		if won := string(votes[0].Variants[votes[0].Winner]); name != "bare" && !strings.Contains(won, fmt.Sprintf("%q", name)) {
			t.Errorf("the vote is for %s, want %s", won, name)
		}
	})
}

// A votedStore has eight votes, of which the state "sad" has won all but one.
type votedStore struct{ turn.Store }

func (votedStore) Votes(context.Context) (votes []turn.Vote, err error) {
	of := []turn.Description{
		`{"model":"test","state":"sad","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
		`{"model":"test","mode":"rwkv","temperature":0.8,"top_p":0.9}`,
	}
	for i := range 8 {
		v := turn.Vote{Prompt: "ab", Variants: of}
		if i == 3 {
			v.Winner = turn.Tie
		}
		votes = append(votes, v)
	}
	return votes, nil
}

func TestVotes(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{Wrap: func(s turn.Store) turn.Store { return votedStore{s} }}), Options{})
		k.talk("/votes")
		k.hears("test, sad, temperature 0.8, top_p 0.9: 7 won, 1 tied, 0 lost; rate 94 percent")
	})
}

func TestCompareModels(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{})
		var loaded atomic.Int32 // other models
		w.Workspace.UseModels(func(_ context.Context, path string, progress func(done, total int64)) (chat.Opened, error) {
			m := scripted.Model()
			e := infer.NewEngine(m, scripted.New(m, scripted.Options{Answers: []scripted.Answer{{Text: " I am " + path + ".\n\n"}}}), infer.Options{})
			progress(1, 2)
			loaded.Add(1)
			return chat.Opened{Engine: e, Close: func() error {
				loaded.Add(-1)
				return e.Close()
			}}, nil
		})
		k := begin(t, w, Options{Models: func(context.Context) ([]kit.ModelFile, error) {
			return []kit.ModelFile{{Name: "mine", Current: true, About: "x070"}, {Name: "small", Path: "small.pth", Needs: 1 << 20}, {Name: "old", Problem: "no"}}, nil
		}})
		k.talk("/models", "/models small", "/compare models Hello")
		k.hears("mine, comes with the program: x070. This one is chosen.\n", "Error: the model cannot be changed here",
			"given back afterwards: small 1.0 MB.", "Loading small.\n", "Loading small: 50%.\n", "2 answers are being made.\n",
			"Answer 1 of 2, scripted", "Answer 2 of 2, small", ": I am small.pth.\n")
		if n := loaded.Load(); n != 1 {
			t.Errorf("%d models are there while the answers wait", n)
		}
		k.talk("/new")
		time.Sleep(time.Minute)
		if n := loaded.Load(); n != 0 {
			t.Errorf("%d models are still there", n)
		}
	})
}
