package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rookery/sessions"
)

// sizeOnDisk is the bytes of the database of a home, which no program has open.
func sizeOnDisk(t *testing.T, home string) float64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(home, "data", "rookery", sessions.File))
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size())
}

// A terminal without a shell behind it, or with one that does not look after its
// processes, has nothing to suspend to: the program refuses, or comes back.
func TestSuspendWithoutJobControl(t *testing.T) {
	for name, command := range map[string]string{"alone": "exec ", "under a script": ""} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			x := openWindow(t, 80, 24, home, "sh", "-c", "export HOME="+home+" XDG_DATA_HOME="+home+"/data; "+command+program(t)+"; sleep 60")
			x.see(composerHint)
			x.typed("/suspend")
			x.keys("Enter")
			x.gone("/suspend")
			x.typed("still here")
			x.see("› still here")
			x.keys("C-q")
		})
	}
}

// endless is a home whose configuration lets no answer end by itself.
func endless(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	dir := filepath.Join(home, "config", "rookery")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[chat]\nstops = [\"@@@@\"]\n[sampling]\nban = [0]\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// ctrl+c stops the answer, clears the prompt, asks to quit, and quits.
func TestInterruptInStages(t *testing.T) {
	x := open(t, 80, 24, endless(t), "--seed", "1")
	x.see(composerHint)
	x.typed("Tell me a long story.")
	x.keys("Enter")
	x.see("There was")
	x.typed("a draft")
	x.see("a draft")
	x.keys("C-c")
	x.see("stopped, can be continued", "a draft")
	x.keys("C-c")
	x.see(composerHint)
	x.keys("Up")
	x.see("a draft")
	x.keys("C-c", "C-c")
	x.see("again to quit")
	x.keys("C-c")
	x.see("exit:0")
}

// In the line mode ctrl+c does the same.
func TestInterruptOfTheLineMode(t *testing.T) {
	x := open(t, 80, 24, endless(t), "--screen-reader", "--seed", "1")
	x.see("You:")
	x.typed("Tell me a long story.")
	x.keys("Enter")
	x.see("Answer:")
	x.keys("C-c")
	x.see("The answer was interrupted.")
	x.keys("C-c")
	x.see("Press ctrl+c again to leave.")
	x.keys("C-c")
	x.see("exit:0")
}

// Typing is taken back before the conversation is.
func TestUndoOfTyping(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.typed("two words")
	x.keys("C-z")
	x.gone("two words")
	x.see("two")
	x.keys("C-y")
	x.see("two words")
	x.keys("C-z", "C-z")
	x.see(composerHint)
	x.keys("C-z")
	x.see("ahead, undone")
	x.keys("C-y")
	x.gone("ahead, undone")
}

// Forks are one row of the list, share their states on disk, and go with one key.
func TestManyForks(t *testing.T) {
	home := t.TempDir()
	x := open(t, 120, 60, home, "--seed", "1", "--max-tokens", "6")
	x.see(composerHint)
	for i, prompt := range []string{"Tell me a story.", "And then?", "Why?", "And then?", "Who?", "The end?"} {
		x.say(prompt, i+1)
	}
	x.keys("C-q")
	x.see("exit:0")
	alone := sizeOnDisk(t, home)
	x.start(program(t))
	x.see(composerHint)
	x.keys("M-V")
	x.see("Fork into how many tabs?", "A number from 1 to 32.")
	x.typed("32")
	x.keys("Enter")
	x.see("Fork into 32 tabs?")
	x.keys("Enter")
	x.see("32 copies of the conversation")
	x.keys("M-W")
	x.see("closed 32 tabs")
	x.keys("C-q")
	x.see("exit:0")
	with := sizeOnDisk(t, home)
	t.Logf("%.2f MB alone, %.2f MB with 32 forks: %.3f times", alone/1e6, with/1e6, with/alone)
	if with > 1.2*alone {
		t.Errorf("32 forks take %.0f bytes, and the conversation alone %.0f", with, alone)
	}
	x.start(program(t))
	x.see(composerHint)
	x.keys("C-o")
	x.see("Conversations (33)", "32 copies")
}

// What was written and not sent is there again after a kill, in every tab.
func TestDraftsSurviveAKill(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.typed("and then")
	x.keys("C-t")
	x.see("2 New chat")
	x.typed("in a new chat")
	x.see("in a new chat")
	time.Sleep(time.Second) // it is saved a tenth of a second later
	x.signal(syscall.SIGKILL)
	x.see("exit:137")
	x.tmux("respawn-pane", "-k", "sh") // the terminal was left as the program had it
	x.start(program(t), "--seed", "1", "--max-tokens", "8")
	x.see("2 New chat", "in a new chat")
	x.keys("M-1")
	x.see("and then")
	x.keys("C-q")
	x.see("exit:0")
}

// Answers side by side scroll with the arrows, the page keys and the wheel.
func TestPanesScroll(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--seed", "1", "--max-tokens", "200")
	x.see(composerHint)
	x.typed("Tell me a long story about a dog and a cat.")
	x.keys("M-R") // the text in the prompt is what is answered
	x.until("showing ended answers", func(screen string) bool {
		return !strings.Contains(screen, "running") && strings.Count(screen, "perplexity") == 2 && strings.Contains(screen, "decode 0.0")
	})
	x.keys("End")
	for _, keys := range [][2]string{{"Up", "Down"}, {"PPage", "NPage"}, {"k", "j"}} {
		end := x.screen()
		x.keys(keys[0])
		x.until("scrolled by "+keys[0], func(screen string) bool { return screen != end })
		x.keys(keys[1])
		x.until("scrolled back by "+keys[1], func(screen string) bool { return screen == end })
	}
	x.keys("Escape")
}
