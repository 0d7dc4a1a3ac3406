package sessions

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"rookery/chat/turn"
)

// kills is how often the writer is killed; each takes some tens of milliseconds.
const kills = 25

// TestMain makes the test binary its own victim: with ROOKERY_KILL_DIR it
// writes turns and journals without end, saying what is committed, and with
// ROOKERY_TORTURE_DIR it does everything that can be done.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ROOKERY_KILL_DIR"); dir != "" {
		if err := writeForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if dir := os.Getenv("ROOKERY_TORTURE_DIR"); dir != "" {
		seed, err := strconv.ParseUint(os.Getenv("ROOKERY_TORTURE_SEED"), 10, 64)
		if err == nil {
			err = tortured(dir, seed)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func writeForever(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	var last turn.ID
	if err := s.read.QueryRowContext(ctx, `SELECT coalesce(max(id), 1) FROM turns`).Scan(&last); err != nil {
		return err
	}
	c := conversation(1)
	if last > 1 {
		c.Head = last
	}
	for id := last + 1; ; id++ {
		t := makeTurn(id, last, "")
		if last == 1 {
			t.Parent = 0
		}
		if err := s.SaveConversation(ctx, c); err != nil {
			return err
		}
		if err := s.BeginJournal(ctx, 1, t); err != nil {
			return err
		}
		for n := range int32(5) {
			if err := s.AppendJournal(ctx, id, []int32{n}, "w"); err != nil {
				return err
			}
			fmt.Printf("journal %d %d\n", id, n+1)
		}
		t.Text, c.Head = "wwwww", id
		if err := s.CommitTurn(ctx, c, t, snapshot(50000)); err != nil {
			return err
		}
		fmt.Printf("turn %d\n", id)
		last = id
	}
}

// TestKill kills a writing process at random moments and checks that all it
// said was saved is there, and that nothing is half there.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for range kills {
		turnID, journalID, parts := killWriter(t, dir, time.Duration(20+rng.IntN(80))*time.Millisecond)
		s, err := Open(t.Context(), dir)
		must(t, err)
		problems, err := s.Check(t.Context())
		if err != nil || len(problems) > 0 {
			t.Fatalf("after a kill: %v, %v", problems, err)
		}
		if turnID == 0 && journalID == 0 {
			must(t, s.Close())
			continue
		}
		c, turns, err := s.Load(t.Context(), 1)
		must(t, err)
		j := newestJournal(t, s, 1)
		if len(turns) > 0 && (c.Head != turns[len(turns)-1].ID || c.Head < turnID) {
			t.Fatalf("turn %d was committed; the head is %d and the last turn %d", turnID, c.Head, turns[len(turns)-1].ID)
		}
		if c.Head > 0 {
			if snap, err := s.Snapshot(t.Context(), c.Head); snap == nil || err != nil {
				t.Fatalf("the head has no state: %v", err)
			}
		}
		if journalID > c.Head && (j == nil || j.Turn.ID != journalID || len(j.Tokens) < parts || len(j.Text) != len(j.Tokens)) {
			t.Fatalf("%d tokens of answer %d were journaled; got %+v", parts, journalID, j)
		}
		must(t, s.Close())
	}
}

// killWriter runs a writer for a while after its first word, kills it, and
// returns the last turn and journal entry it reported.
func killWriter(t *testing.T, dir string, after time.Duration) (turnID, journalID turn.ID, parts int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "ROOKERY_KILL_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	timer := time.AfterFunc(tolerance, func() { _ = cmd.Process.Kill() }) // of one that says nothing
	defer timer.Stop()
	said := false
	for lines.Scan() {
		if !said {
			said = true
			timer.Reset(after)
		}
		word := strings.Fields(lines.Text())
		n, err := strconv.ParseInt(word[1], 10, 64)
		must(t, err)
		if word[0] == "turn" {
			turnID = turn.ID(n)
			continue
		}
		journalID = turn.ID(n)
		parts, err = strconv.Atoi(word[2])
		must(t, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	if !said {
		t.Fatalf("the writer said nothing for %v", tolerance)
	}
	return turnID, journalID, parts
}
