package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How long a test waits for a text on the screen, and how often it reads the screen at
// least: where other programs use the cores, one reading takes 200 ms instead of 3.
const (
	patience   = time.Minute
	leastLooks = 600
)

// A terminal is a window of a tmux server of its own, with the program in it.
type terminal struct {
	t      *testing.T
	socket string
	home   string
}

// program returns the path of the built program; without one it skips the test.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ROOKERY_E2E")
	if path == "" {
		t.Skip("skipped: ROOKERY_E2E does not name the built program; run `make e2e`")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("skipped: tmux is not installed")
	}
	return path
}

// open starts the program in a window of the given size with its own home.
func open(t *testing.T, width, height int, home string, args ...string) *terminal {
	t.Helper()
	bin := program(t)
	x := openWindow(t, width, height, home, "sh")
	x.start(bin, args...)
	return x
}

// openWindow runs a command in a window of the given size.
func openWindow(t *testing.T, width, height int, home string, command ...string) *terminal {
	t.Helper()
	program(t) // or there is nothing to test
	x := &terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux"), home: home}
	x.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)}, command...)...)
	x.tmux("set", "-g", "escape-time", "0")
	x.tmux("set", "-g", "status", "off")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", x.screen())
		}
		_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run()
	})
	return x
}

// start runs the program in the window's shell.
func (x *terminal) start(bin string, args ...string) {
	x.t.Helper()
	env := fmt.Sprintf("env -u NO_COLOR LC_ALL=C.UTF-8 HOME=%[1]s XDG_DATA_HOME=%[1]s/data XDG_CONFIG_HOME=%[1]s/config", x.home)
	x.typed("clear; " + env + " " + bin + " " + strings.Join(args, " ") + "; echo exit:$?")
	x.keys("Enter")
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, errs.String())
	}
	return out.String()
}

// keys presses keys by their tmux names.
func (x *terminal) keys(names ...string) {
	x.t.Helper()
	x.tmux(append([]string{"send-keys"}, names...)...)
}

// typed types text.
func (x *terminal) typed(text string) {
	x.t.Helper()
	x.tmux("send-keys", "-l", text)
}

// paste pastes text as a terminal does, in brackets.
func (x *terminal) paste(text string) {
	x.t.Helper()
	path := filepath.Join(x.t.TempDir(), "paste")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.tmux("load-buffer", path)
	x.tmux("paste-buffer", "-p")
}

func (x *terminal) resize(width, height int) {
	x.t.Helper()
	x.tmux("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// screen returns what the window shows.
func (x *terminal) screen() string {
	out, err := exec.Command("tmux", "-S", x.socket, "capture-pane", "-p").Output()
	if err != nil {
		return "no screen: " + err.Error()
	}
	return string(out)
}

// see waits until the screen shows all of the texts.
func (x *terminal) see(texts ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("showing %q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// gone waits until the screen no longer shows a text.
func (x *terminal) gone(text string) {
	x.t.Helper()
	x.until(fmt.Sprintf("no longer showing %q", text), func(screen string) bool { return !strings.Contains(screen, text) })
}

func (x *terminal) until(what string, ok func(screen string) bool) {
	x.t.Helper()
	end := time.Now().Add(patience)
	for looks := 0; looks < leastLooks || time.Now().Before(end); looks++ {
		if ok(x.screen()) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	x.t.Fatalf("the screen is not %s:\n%s", what, x.screen())
}

// signal sends the program a signal.
func (x *terminal) signal(s syscall.Signal) {
	x.t.Helper()
	if err := syscall.Kill(x.process(), s); err != nil {
		x.t.Fatal(err)
	}
}

// process returns the id of the program's process under the window's shell.
func (x *terminal) process() int {
	x.t.Helper()
	shell := strings.TrimSpace(x.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pgrep", "-P", shell).Output()
	if err != nil {
		x.t.Fatalf("the program is not running: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		x.t.Fatal(err)
	}
	return pid
}
