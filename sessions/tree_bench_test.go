package sessions

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rookery/chat"
	"rookery/infer"
	"rookery/infer/load"
)

// BenchmarkTree is what the operations of the tree take on the embedded model
// and the real store: undo and redo, a fork until it is on disk, the first
// token after undo, and what a turn takes on disk in a conversation of 50.
func BenchmarkTree(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir())
	must(b, err)
	m, backend, err := load.Open(b.Context(), load.Spec{Backend: "cpu"}, nil)
	must(b, err)
	e := infer.NewEngine(m, backend, infer.Options{})
	workspace := chat.NewWorkspace(e, s, chat.Defaults{MaxTokens: 30})
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must(b, workspace.Close(ctx))
		must(b, e.Close())
	}()
	d := workspace.New()
	for i := range 25 {
		must(b, d.Send(fmt.Sprint("And then? ", i)))
		rest(d)
	}
	tip := d.View().Conversation.Head
	b.Run("undo and redo", func(b *testing.B) {
		for b.Loop() {
			must(b, d.Undo())
			must(b, d.Redo())
		}
	})
	b.Run("fork and save", func(b *testing.B) {
		for b.Loop() {
			forks, err := workspace.Fork(d, tip, 1)
			must(b, err)
			rest(forks[0])
		}
	})
	b.Run("undo to first token", func(b *testing.B) {
		for b.Loop() {
			must(b, d.Undo())
			must(b, d.Send("And now?"))
			for v := d.View(); v.Live != nil && len(v.Live.Drawn) == 0; v = d.View() {
				time.Sleep(50 * time.Microsecond)
			}
			b.StopTimer()
			d.Stop()
			rest(d)
			b.StartTimer()
		}
	})
	cost, err := s.Cost(b.Context(), d.ID())
	must(b, err)
	b.Logf("%d turns: %d bytes of text and tokens a turn, %d states of %d KB", cost.Turns, cost.TextBytes/int64(cost.Turns),
		cost.Snapshots, cost.SnapshotBytes/int64(max(cost.Snapshots, 1))/1000)
}

// rest waits until a conversation is at rest and saved.
func rest(d *chat.Dialogue) {
	for v := d.View(); v.Live != nil || !v.Saved; v = d.View() {
		time.Sleep(50 * time.Microsecond)
	}
}
