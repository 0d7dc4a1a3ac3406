package plain

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/ui/uitest"
)

// pieces are what was written, write by write.
type pieces []string

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, string(b))
	return len(b), nil
}

func TestSpeaksInWholeSentences(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		text := " <think>\nhm hm\n</think>\nOne two. Three, 3.5! Four\nfive 六。七" + strings.Repeat(" and on", 1000)
		w := uitest.New(t, uitest.Options{Step: 10 * time.Millisecond, Answers: []scripted.Answer{{Prompt: "count", Text: text}}})
		var got pieces
		k := begin(t, w, Options{Out: &got})
		uitest.Must(t, k.submit("count"))
		for v := k.d.View(); v.Live == nil || !strings.Contains(v.Live.Text, "七"); v = k.d.View() {
			time.Sleep(5 * time.Millisecond)
			k.speak()
		}
		want := []string{"Thinking.\n", "Thought: 2 words.\n", "Answer: ", "One two. ", "Three, 3.5! ", "Four\n", "five 六。"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		got = nil
		k.d.Stop()
		k.rest()
		k.speak()
		if end := strings.Join(got, ""); !strings.HasPrefix(end, "七") || !strings.HasSuffix(end, "\nThe answer was interrupted. /continue goes on with it.\n") {
			t.Errorf("ended with %q", end)
		}
	})
}

// A fullStore cannot save turns while it is full.
type fullStore struct {
	turn.Store
	full *atomic.Bool
}

func (s fullStore) CommitTurn(ctx context.Context, c turn.Conversation, t turn.Turn, snapshot *infer.Snapshot) error {
	if s.full.Load() {
		return errors.New("the disk\nis full")
	}
	return s.Store.CommitTurn(ctx, c, t, snapshot)
}

func TestTellsAnErrorOnce(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		var full atomic.Bool
		w := uitest.New(t, uitest.Options{Wrap: func(s turn.Store) turn.Store { return fullStore{s, &full} }})
		full.Store(true)
		defer full.Store(false)
		k := begin(t, w, Options{})
		uitest.Must(t, k.submit("hello"))
		time.Sleep(time.Second)
		k.speak()
		k.speak()
		if n := strings.Count(k.said.String(), "the disk is full; "); n != 1 {
			t.Errorf("the error was told %d times:\n%s", n, k.said.String())
		}
	})
}

// An answer that is over before anybody could look is told.
func TestTellsAnswersThatAreOverAtOnce(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{}), Options{})
		for _, text := range []string{"one", "two"} {
			uitest.Must(t, k.startAnswer(func() error {
				defer k.rest()
				return k.d.Send(text)
			}))
		}
		k.speak()
		if got, want := k.said.String(), strings.Repeat("Answer: "+uitest.Answer+"\n", 2); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// rest waits until no answer is running.
func (k *talk) rest() {
	for synctest.Wait(); k.d.View().Live != nil; {
		time.Sleep(time.Millisecond)
	}
}

// A waiter lets the answers end before its n-th write.
type waiter struct {
	k *talk
	n int
}

func (w *waiter) Write(b []byte) (int, error) {
	if w.n--; w.n == 0 {
		w.k.rest()
	}
	return w.k.said.Write(b)
}

// However near to the end of the input an answer ends, it is told.
func TestTellsAnAnswerThatEndsWithTheInput(t *testing.T) {
	for n := range 6 {
		uitest.Run(t, func(t *testing.T) {
			w := uitest.New(t, uitest.Options{Step: 10 * time.Millisecond, Answers: []scripted.Answer{{Prompt: "rook", Text: " It is black. It is clever. It is loud.\n\n"}}})
			k := begin(t, w, Options{})
			k.out = &waiter{k, n}
			k.talk("What is a rook?")
			k.hears("Answer: It is black. It is clever. It is loud.\n")
		})
	}
}

// A conversation that another model has made is told to be read again, and how
// far that is.
func TestTellsOfReadingAgain(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{}), Options{})
		live := &chat.Live{Turn: turn.Turn{ID: 1}, Swapped: "the old"}
		at := func(read, all, generated int, want string) {
			t.Helper()
			k.said.Reset()
			live.Progress = infer.Progress{Read: read, ToRead: all, Generated: generated}
			k.tellRereading(live)
			k.tellRereading(live)
			if got := k.said.String(); got != want {
				t.Errorf("%d of %d: said %q, want %q", read, all, got, want)
			}
		}
		at(0, 0, 0, "This conversation was made with the old, and "+k.model.Name+" runs now: it is read again.\n")
		at(10, 1000, 0, "")
		at(300, 1000, 0, "Read 300 of 1000 tokens, 25 percent.\n")
		at(400, 1000, 0, "")
		at(800, 1000, 0, "Read 800 of 1000 tokens, 75 percent.\n")
		at(1000, 1000, 0, "")
		at(1000, 1000, 3, "")

		live = &chat.Live{Turn: turn.Turn{ID: 2, Adapter: "pirate"}, Replaced: "poet"}
		at(0, 1000, 0, "poet is not there any more, and what it has read is read again with pirate.\n")
		at(500, 1000, 0, "Read 500 of 1000 tokens, 50 percent.\n")
	})
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTellsABrokenOutput(t *testing.T) {
	w := uitest.New(t, uitest.Options{})
	err := Run(t.Context(), Options{Workspace: w.Workspace, Dialogue: w.Workspace.New(), In: strings.NewReader("a\n"), Out: brokenPipe{}})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("said %v", err)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	w := uitest.New(t, uitest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	time.AfterFunc(30*time.Millisecond, cancel)
	if err := Run(ctx, Options{Workspace: w.Workspace, Dialogue: w.Workspace.New(), In: in, Out: io.Discard}); err != nil {
		t.Error(err)
	}
	uitest.Must(t, typed.Close())
}
