package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const composerHint = "Write a message"

// answered waits until the visible conversation's last answer has ended.
func (x *terminal) answered() {
	x.t.Helper()
	x.until("showing a finished answer", func(screen string) bool {
		return ended.MatchString(screen) && strings.Contains(screen, composerHint)
	})
}

func TestChat(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "60")
	x.see("rookery-demo, a demonstration", composerHint)

	x.typed("Tell me a story")
	x.keys("S-Enter")
	x.typed("about a brave 猫.")
	x.see("› Tell me a story", "  about a brave 猫.")
	x.keys("Enter")
	x.answered()
	x.see("You", "about a brave 猫.")

	x.resize(200, 60)
	x.see("cpu, ", composerHint)
	x.resize(30, 8)
	x.gone(composerHint)
	x.resize(80, 24)
	x.answered()

	x.keys("C-t")
	x.see("2 New chat")
	x.typed("Hello!")
	x.keys("Enter")
	x.answered()
	x.see("2 Hello!")
	x.keys("M-1")
	x.see("about a brave 猫.")
	x.typed("drawn")
	x.see("› drawn") // a later frame, so the story is complete
	story := x.screen()
	x.keys("C-u")
	x.see(composerHint)

	x.keys("C-q")
	x.see("exit:0")

	// The tabs come back, without reading anything again.
	x.start(program(t), "--seed", "1", "--max-tokens", "60")
	x.see("2 Hello!", "about a brave 猫.")
	x.until("the same as before:\n"+story, func(screen string) bool { return transcript(screen) == transcript(story) })
	x.typed("What happened next?")
	x.keys("Enter")
	x.see("What happened next?")
	x.answered()
	x.keys("C-q")
	x.see("exit:0")
}

// transcript returns the part of a screen between the tabs and the composer.
func transcript(screen string) string {
	_, rest, _ := strings.Cut(screen, "\n")
	body, _, _ := strings.Cut(rest, "──")
	return body
}

// TestKilledInTheMiddle kills the program during an answer, starts it again, and
// continues inside the sentence.
func TestKilledInTheMiddle(t *testing.T) {
	home := t.TempDir()
	configureEndlessAnswers(t, home)
	x := open(t, 200, 300, home) // shows all of it
	x.see(composerHint)
	x.typed("Tell me a story about a brave cat.")
	x.keys("Enter")
	x.until("writing an answer", func(screen string) bool { return len(squeeze(answerText(screen))) > 1500 })
	x.signal(syscall.SIGKILL)
	x.see("exit:137")
	x.tmux("respawn-pane", "-k", "sh") // the terminal was left as the program had it
	x.start(program(t), "--max-tokens", "40")
	x.see("Tell me a story about a brave cat.", "continue")
	before, _, _ := strings.Cut(squeeze(answerText(x.screen())), " stopped, can be continued")
	if len(before) < 300 { // a tenth of a second may be lost, and that is not the most of it
		t.Fatalf("the answer was lost but for %q", before)
	}
	x.keys("F6")
	x.until("longer by more than it was", func(screen string) bool {
		after := squeeze(answerText(screen))
		return strings.HasPrefix(after, before) && len(after) > len(before)+60
	})
	x.keys("C-q")
	x.see("exit:0")
}

// configureEndlessAnswers configures answers that end only when they are stopped.
func configureEndlessAnswers(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, "config", "rookery")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config := "[chat]\nstops = [\"⟂ never said ⟂\"]\n[sampling]\nban = [0]\nfrequency = 0.5\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answerText returns the text of the first answer on the screen.
func answerText(screen string) string {
	_, rest, found := strings.Cut(transcript(screen), "▎ You\n")
	if found {
		_, rest, found = strings.Cut(rest, "rookery-demo\n")
	}
	if !found {
		return ""
	}
	return rest
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestSignals ends the program by signals, while it is idle and during an answer. The
// program restores the terminal and loses nothing, not even a prompt that was not sent.
func TestSignals(t *testing.T) {
	home := t.TempDir()
	configureEndlessAnswers(t, home)
	x := open(t, 200, 300, home) // shows all of the answer
	x.see(composerHint)
	x.typed("not sent yet")
	x.see("› not sent yet")
	for range 3 { // once, one signal in three met the library's own handler first
		x.signal(syscall.SIGTERM)
		x.see("exit:0")
		x.start(program(t))
		x.see("› not sent yet")
	}
	x.keys("Enter")
	x.until("writing an answer", func(screen string) bool { return len(squeeze(answerText(screen))) > 60 })
	before := squeeze(answerText(x.screen()))[:40]
	x.signal(syscall.SIGHUP)
	x.see("exit:0")
	x.start(program(t))
	x.see(composerHint, before[:20])
	x.keys("C-q")
	x.see("exit:0")
}

func TestSecondProgram(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home)
	x.see(composerHint)
	cmd := exec.CommandContext(t.Context(), program(t), "--screen-reader")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 4 || !strings.Contains(string(out), "already in use by another rookery (process "+strconv.Itoa(x.process())) {
		t.Errorf("the second program said %q (%v)", out, err)
	}
	x.keys("C-q")
	x.see("exit:0")
}

func TestBigPaste(t *testing.T) {
	x := open(t, 80, 24, t.TempDir())
	x.see(composerHint)
	x.paste(strings.Repeat("All work and no play makes Jack a dull boy.\n", 25000)) // 1.1 MB
	x.see("[pasted #1: 1.1 MB, 25,001 lines]")
	x.typed("What is this about?")
	x.see("What is this about?")
	x.keys("C-q")
	x.see("exit:0")
}

func TestPanels(t *testing.T) {
	x := open(t, 120, 40, t.TempDir())
	x.see(composerHint)
	for _, panel := range []struct{ command, shows, closes string }{
		{"/help", "↑↓ scroll", "Escape"},
		{"/sampling", "ctrl+s closes", "Escape"},
		{"/monitor", "f4 closes", "F4"},
	} {
		x.typed(panel.command)
		x.keys("Enter")
		x.see(panel.shows)
		x.keys(panel.closes)
		x.gone(panel.shows) // otherwise the program may read escape and the next key as alt
	}
	x.keys("C-p")
	x.see("Commands")
	x.typed("export")
	x.see("Export the conversation")
	x.keys("Escape")
	x.gone("Commands")
	x.keys("C-q")
	x.see("exit:0")
}

func TestNoColor(t *testing.T) {
	x := open(t, 80, 24, t.TempDir())
	x.see(composerHint)
	x.keys("C-q")
	x.see("exit:0")
	x.typed("clear; export NO_COLOR=1")
	x.keys("Enter")
	x.typed("HOME=" + x.home + " XDG_DATA_HOME=" + x.home + "/data XDG_CONFIG_HOME=" + x.home + "/config " + program(t))
	x.keys("Enter")
	x.see(composerHint)
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|10[0-7]|[34]8;)[0-9;]*m`)
	if screen := x.tmux("capture-pane", "-p", "-e"); coloured.MatchString(screen) {
		t.Errorf("colours in spite of NO_COLOR:\n%q", screen)
	}
	x.keys("C-q")
}

func TestScreenReader(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--screen-reader")
	x.see("You:")
	x.typed("Tell me a story about a brave cat.")
	x.keys("Enter")
	x.see("Answer:")
	x.until("asking again", func(screen string) bool { // a long answer moves the first prompt off the screen
		return strings.Contains(screen, "Answer:") && strings.HasSuffix(strings.TrimSpace(screen), "You:")
	})
	if strings.ContainsAny(x.screen(), "─│╭") {
		t.Error("boxes in the screen reader's mode")
	}
	x.typed("/quit")
	x.keys("Enter")
	x.see("exit:0")
}

// TestIdle checks that a program that nobody touches uses almost no processor time.
func TestIdle(t *testing.T) {
	x := open(t, 80, 24, t.TempDir())
	x.see(composerHint)
	used := 0
	for end := time.Now().Add(patience); time.Now().Before(end); {
		before := cpuTicks(t, x.process())
		time.Sleep(2 * time.Second)
		if used = cpuTicks(t, x.process()) - before; used <= 4 { // hundredths of a second
			return
		}
	}
	t.Errorf("idle for 2 s, the program used %d ms", 10*used)
}

// cpuTicks returns the processor time of a process in hundredths of a second.
func cpuTicks(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Skipf("skipped: no /proc here: %v", err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+2:]))
	user, uerr := strconv.Atoi(fields[11])
	system, serr := strconv.Atoi(fields[12])
	if uerr != nil || serr != nil {
		t.Fatalf("%v, %v", uerr, serr)
	}
	return user + system
}
