package sessions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/cpu"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
	"rookery/infer/tokenizer"
)

// shape04B is that of the released 0.4B models: a state has 6.4 MB.
var shape04B = rwkv.Shape{
	Version: rwkv.V7, Layers: 24, Embed: 1024, Heads: 16, HeadSize: 64, FFN: 4096, Vocab: 65536,
	Ranks: rwkv.Ranks{64, 64, 32, 128},
}

// A crowd is how many conversations share how few slots.
type crowd struct {
	conversations, slots, switches int
	memory                         int // states that the host's memory has room for
	full                           bool
}

// tokensOfTiers are what each switch generates.
const tokensOfTiers = 2

// counted is a store that counts the states read from it.
type counted struct {
	*Store
	reads atomic.Int64
}

func (c *counted) Snapshot(ctx context.Context, id turn.ID) (*infer.Snapshot, error) {
	c.reads.Add(1)
	return c.Store.Snapshot(ctx, id)
}

// tierEngine is real in a full run: random weights in the shape of the 0.4B
// models on the processor. Otherwise the states are real and the model is not.
func (c crowd) engine(t *testing.T) *infer.Engine {
	t.Helper()
	if !c.full {
		m := tortureModel()
		vocab := m.Shape.Vocab
		m.Shape = shape04B
		m.Shape.Layers, m.Shape.Vocab = 2, vocab
		return infer.NewEngine(m, scripted.New(m, scripted.Options{Slots: c.slots}), infer.Options{})
	}
	b, err := cpu.Synthetic(t.Context(), shape04B, 1, cpu.Options{Weights: "int8", Slots: c.slots})
	must(t, err)
	m := &infer.Model{Name: "rookery-demo", Fingerprint: "synthetic", Shape: shape04B, Tokenizer: tokenizer.World()}
	return infer.NewEngine(m, b, infer.Options{Resident: int64(c.slots) * int64(4*shape04B.StateLen())})
}

// TestTiers switches among many conversations at random. Their states are in
// slots, in the host's memory or on disk; wherever one comes from, it goes on as
// if nothing had been between. ROOKERY_TIERS=full has 500 conversations of the
// 0.4B shape on 64 slots, writes some gigabytes, and holds the time from the
// disk to the first token against 100 ms.
func TestTiers(t *testing.T) {
	c := crowd{conversations: 40, slots: 6, switches: 150, memory: 10}
	if os.Getenv("ROOKERY_TIERS") == "full" {
		c = crowd{conversations: 500, slots: 64, switches: 500, memory: 128, full: true}
	}
	s, err := Open(t.Context(), t.TempDir())
	must(t, err)
	s.SetRetention(Retention{Budget: 1 << 40})
	e := c.engine(t)
	defer infer.Overlap()() // as the program does
	store := &counted{Store: s}
	params := &sampler.Params{Temperature: 1, TopP: 1, Presence: 0.5, Decay: 0.99}
	workspace := chat.NewWorkspace(e, store, chat.Defaults{Sampling: params, MaxTokens: tokensOfTiers, Stops: []string{"\x00\x01never"}})
	workspace.SetMemory(int64(c.memory) * int64(4*e.Model().Shape.StateLen()))
	open := make([]*chat.Dialogue, c.conversations)
	for i := range open {
		open[i] = workspace.New()
	}
	for some := range slices.Chunk(open, 16) {
		for i, d := range some {
			must(t, d.Send(fmt.Sprint("rook ", i)))
		}
		for _, d := range some {
			quiet(t, d)
		}
	}
	took := map[string][]time.Duration{}
	kept := stolen(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range c.switches {
		d := open[rng.IntN(len(open))]
		if c.full {
			forgetFile(t, s.Path())
		}
		reads, wakes := store.reads.Load(), e.Stats().Wakes
		first := goOnAndTime(t, d)
		quiet(t, d)
		tier := "memory"
		switch now := e.Stats().Wakes; {
		case store.reads.Load() > reads:
			tier = "disk"
		case now.Device > wakes.Device:
			tier = "slot"
		}
		took[tier] = append(took[tier], first)
	}
	share := kept()
	for _, d := range open {
		c.checkWhole(t, e, d)
	}
	c.report(t, took)
	t.Logf("another machine on the same host had %.1f %% of the processors' time meanwhile", 100*share)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(t, workspace.Close(ctx))
	must(t, e.Close())
}

// goOnAndTime continues an answer and times its first token.
func goOnAndTime(t *testing.T, d *chat.Dialogue) time.Duration {
	t.Helper()
	start := time.Now()
	must(t, d.Continue())
	for {
		v := d.View()
		switch {
		case v.Live == nil && v.Err != nil:
			t.Fatal(v.Err)
		case v.Live == nil || v.Live.Progress.Generated > 0: // over already, or it has a token
			return time.Since(start)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// quiet waits until a conversation is at rest and saved.
func quiet(t *testing.T, d *chat.Dialogue) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Microsecond) {
		v := d.View()
		if v.Live == nil && v.Saved {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("live %v, saved %v, error %v", v.Live != nil, v.Saved, v.Err)
		}
	}
}

func lastTurn(v chat.View) turn.Turn { return v.Turns[len(v.Turns)-1] }

// checkWhole generates a conversation's answer at one go.
func (c crowd) checkWhole(t *testing.T, e *infer.Engine, d *chat.Dialogue) {
	t.Helper()
	v := d.View()
	answer := lastTurn(v)
	if c.full && len(answer.Tokens) == tokensOfTiers {
		return // it was never switched to
	}
	asked, _, err := chat.Defaults{}.Request(e.Model(), prompt.QuestionOf("x"), nil)
	must(t, err)
	request := infer.Request{Tokens: v.Turns[0].Tokens, Sampling: answer.Sampling, MaxTokens: len(answer.Tokens)}
	request.Sampling.Ban = asked.Sampling.Ban
	s, err := e.Submit(request)
	must(t, err)
	<-s.Done()
	end := s.Ending()
	got, want := end.Tokens, answer.Tokens
	if end.Reason == infer.ReasonStop { // the conversation went on past its end
		want = want[:min(len(got), len(want))]
	}
	if end.Err != nil || !slices.Equal(got, want) {
		t.Errorf("%s has %v, and at one go %v (%v)", v.Conversation.Title, answer.Tokens, got, end.Err)
	}
}

// report says how long waking took from every tier.
func (c crowd) report(t *testing.T, took map[string][]time.Duration) {
	t.Helper()
	for _, tier := range []string{"slot", "memory", "disk"} {
		all := took[tier]
		if len(all) == 0 {
			t.Errorf("no conversation woke from the tier %s", tier)
			continue
		}
		slices.Sort(all)
		at := func(p int) time.Duration { return all[(len(all)*p+99)/100-1] }
		t.Logf("%d conversations, %d slots, %d states in memory: %d from %s to the first token in %v (median), %v (99 %%)",
			c.conversations, c.slots, c.memory, len(all), tier, at(50).Round(10*time.Microsecond), at(99).Round(10*time.Microsecond))
		if c.full && tier == "disk" && at(99) > 100*time.Millisecond {
			t.Errorf("from disk it takes %v", at(99))
		}
	}
}
