package sessions

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rookery/chat/turn"
)

const (
	// tortureKills is how often; ROOKERY_TORTURE_KILLS asks for more.
	tortureKills = 24
	// tortureLives is after how many kills another data directory is begun.
	tortureLives = 12
	// journalLag is how much of a running answer may be lost. A busy machine,
	// one that lets a goroutine that sleeps or writes wait for longer than
	// quietLate, takes its time.
	journalLag = 100 * time.Millisecond
	busyLag    = 300 * time.Millisecond
	quietLate  = 10 * time.Millisecond
	lateTurns  = 20 // such waits, of a write's goroutine and of those before it
)

// A testimony is what a victim said before it was killed.
type testimony struct {
	turns  map[turn.ID]spoken // by turn
	heads  map[turn.ID]headed
	live   map[turn.ID][]sight // by turn
	gone   map[turn.ID]bool
	may    map[turn.ID]bool // turns that may be removed
	coming map[turn.ID]int  // turns of conversations that are read from bundles
	forked map[turn.ID]int  // turns of conversations that are forks
	baked  map[turn.ID]bool // states of the library
	phases map[string]bool  // running when it was killed
	shown  map[string]bool  // errors that conversations had
	killed time.Time
	seen   bool // it said anything
}

// spoken is a turn that was said to be saved.
type spoken struct {
	conversation turn.ID
	bytes        int
	sum          uint32
}

// headed is what was said of a conversation.
type headed struct {
	head, tip turn.ID
	adapter   uint32 // checksum
}

func headedBy(c turn.Conversation) headed { return headed{c.Head, c.Tip, sumOf(c.Adapter)} }

// A sight is how much of a running answer was seen.
type sight struct {
	conversation turn.ID
	bytes        int
	at           time.Time
	late         time.Duration
}

func newTestimony() *testimony {
	return &testimony{
		turns: map[turn.ID]spoken{}, heads: map[turn.ID]headed{}, live: map[turn.ID][]sight{},
		gone: map[turn.ID]bool{}, may: map[turn.ID]bool{}, forked: map[turn.ID]int{}, coming: map[turn.ID]int{}, baked: map[turn.ID]bool{}, phases: map[string]bool{},
	}
}

// hear takes one line; one that was cut short by the kill is no line.
func (w *testimony) hear(line string) error {
	w.seen = true
	switch line[0] {
	case '+':
		w.phases[line[1:]] = true
		return nil
	case '-':
		delete(w.phases, line[1:])
		return nil
	case '!':
		w.shown[line[1:]] = true
		return nil
	}
	word := strings.Fields(line)
	var n [5]int64
	for i, text := range word[1:] {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("the victim said %q", line)
		}
		n[i] = v
	}
	c, id := turn.ID(n[0]), turn.ID(n[1])
	switch word[0] {
	case "act":
		delete(w.heads, c)
	case "turn":
		w.turns[id] = spoken{c, int(n[2]), uint32(n[3])}
	case "head":
		w.heads[c] = headed{id, turn.ID(n[2]), uint32(n[3])}
	case "live":
		delete(w.heads, c)
		w.live[id] = append(w.live[id], sight{c, int(n[2]), time.UnixMicro(n[3]), time.Duration(n[4]) * time.Microsecond})
	case "gone":
		w.gone[c] = true
	case "coming":
		w.coming[c] = int(n[1])
	case "dropped":
		w.may[id] = true
	case "forked":
		w.forked[c] = int(n[1])
	case "arrived":
		delete(w.gone, c)
	case "baked", "unbaked":
		w.baked[c] = word[0] == "baked"
	default:
		return fmt.Errorf("the victim said %q", line)
	}
	return nil
}

// A moment is when to kill: so long after the victim's first word, or, if
// during is set, after it next begins that.
type moment struct {
	after  time.Duration
	during string
	into   time.Duration // of what it does then
}

// tormentPatience is how long a moment is waited for.
const tormentPatience = 400 * time.Millisecond

// targets are aimed at: they take too little time to be met by chance.
var targets = []string{"open", "save", "thin", "delete", "undo", "redo", "go", "sibling", "bin", "list", "layout", "checkpoint", "search", "bake", "unbake", "export", "import", "best", "keep", "fork", "edit", "mix", "adapt", "compare"}

// chooseMoment is any: half of them are aimed.
func chooseMoment(rng *rand.Rand, fresh bool) moment {
	m := moment{after: time.Duration(rng.IntN(220_000)) * time.Microsecond}
	switch {
	case fresh || rng.IntN(8) == 0:
		m.after = time.Duration(rng.IntN(30_000)) * time.Microsecond
	case rng.IntN(2) == 0:
		m.during, m.into = targets[rng.IntN(len(targets))], time.Duration(rng.IntN(2000))*time.Microsecond
	}
	return m
}

// torment runs a victim and kills it. What it says is added to what others
// have said of the directory.
func torment(t *testing.T, dir string, seed uint64, when moment, w *testimony) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "ROOKERY_TORTURE_DIR="+dir, fmt.Sprintf("ROOKERY_TORTURE_SEED=%d", seed))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	w.live, w.phases, w.shown, w.seen = map[turn.ID][]sight{}, map[string]bool{}, map[string]bool{}, false
	killed := make(chan time.Time, 1)
	var once sync.Once
	kill := func() {
		once.Do(func() {
			killed <- time.Now()
			_ = cmd.Process.Kill()
		})
	}
	time.AfterFunc(tolerance, kill) // one that says nothing
	var first time.Time
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		must(t, err)
		if !w.seen {
			first = time.Now()
			after := when.after
			if when.during != "" {
				after += tormentPatience
			}
			time.AfterFunc(after, kill)
		}
		if when.during != "" && line == "+"+when.during+"\n" && time.Since(first) >= when.after {
			time.AfterFunc(when.into, kill)
		}
		if err := w.hear(strings.TrimSuffix(line, "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("the victim ended by itself: %v\n%s", err, complaint.String())
	}
	if !w.seen {
		t.Fatalf("the victim said nothing for %v", tolerance)
	}
	w.killed = <-killed
}

// TestTorture kills a program that streams, saves, thins, undoes, deletes and
// changes adapters at random moments, and checks after each kill that nothing is lost
// and nothing is half there. ROOKERY_TORTURE_SEED repeats a run as far as
// the machine's timing lets it.
func TestTorture(t *testing.T) {
	kills := number(t, "ROOKERY_TORTURE_KILLS", tortureKills)
	seed := uint64(number(t, "ROOKERY_TORTURE_SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("ROOKERY_TORTURE_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	r := newInquest(t)
	started := time.Now()
	var dir string
	var w *testimony
	for n := range kills {
		if n%tortureLives == 0 {
			dir, w = t.TempDir(), newTestimony()
		}
		life, when := rng.Uint64(), chooseMoment(rng, n%tortureLives == 0)
		if patient(life) { // the journal has to keep up
			when.after *= 3
		}
		torment(t, dir, life, when, w)
		r.examine(dir, w)
		if t.Failed() {
			t.Fatalf("kill %d of ROOKERY_TORTURE_SEED=%d, %+v, during %v; errors were %v", n, seed, when, slices.Sorted(maps.Keys(w.phases)), slices.Sorted(maps.Keys(w.shown)))
		}
		if n%tortureLives == tortureLives-1 {
			must(t, os.RemoveAll(dir))
		}
	}
	t.Log(r.summary(kills, time.Since(started)))
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// summary is what a run was about.
func (r *inquest) summary(kills int, took time.Duration) string {
	names := slices.SortedFunc(maps.Keys(r.during), func(a, b string) int {
		return cmp.Or(r.during[b]-r.during[a], strings.Compare(a, b))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%d kills in %v; during", kills, took.Round(time.Second))
	for _, name := range names {
		fmt.Fprintf(&b, " %s %d,", name, r.during[name])
	}
	fmt.Fprintf(&b, " nothing %d; %d conversations, %d turns and %d states looked at; %d answers repeated, %d of mixes, %d of lines with adapters, %d of them changed within, %d edited; %d taken up from a journal, at most %v behind, %v on a quiet machine (%d times looked at)",
		r.idle, r.conversations, r.turns, r.states, r.repeated, r.mixed, r.adapted, r.swapped, r.edited, r.recovered, r.lag.Round(time.Millisecond), r.quietLag.Round(time.Millisecond), r.quiet)
	return b.String()
}
